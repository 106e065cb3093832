/*
 * A colour map in which equal steps look equal: a path through CIELAB whose lightness rises evenly
 * from 12 to 93, so that it also reads in grey, while the hue turns from blue through red to yellow
 * (285 to 455 degrees) and the chroma swells in the middle, 26 + 40 sin(pi t), as far as the path
 * stays among the colours that a screen has. Then CIELAB to XYZ (white D65) to sRGB, by their
 * definitions.
 */
#include "image/colour.h"

#include <math.h>

#define PI 3.14159265358979323846

/* The inverse of CIELAB's cube root with its straight foot. */
static double cube(double t)
{
    const double foot = 6.0 / 29;
    return t > foot ? t * t * t : 3 * foot * foot * (t - 4.0 / 29);
}

/* A share of light as sRGB writes it in eight bits. */
static uint8_t encode(double light)
{
    light = light < 0 ? 0 : light > 1 ? 1 : light;
    double value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
    return (uint8_t)(value * 255 + 0.5);
}

void twi_colour_map(uint8_t out[TWI_COLOURS][3])
{
    for (int i = 0; i < TWI_COLOURS; i++) {
        const double t = (double)i / (TWI_COLOURS - 1);
        const double chroma = 26 + 40 * sin(PI * t);
        const double hue = (285 + 170 * t) * PI / 180;
        const double y = (12 + 81 * t + 16) / 116;
        const double X = 0.95047 * cube(y + chroma * cos(hue) / 500);
        const double Y = cube(y);
        const double Z = 1.08883 * cube(y - chroma * sin(hue) / 200);
        out[i][0] = encode(3.2404542 * X - 1.5371385 * Y - 0.4985314 * Z);
        out[i][1] = encode(-0.9692660 * X + 1.8760108 * Y + 0.0415560 * Z);
        out[i][2] = encode(0.0556434 * X - 0.2040259 * Y + 1.0572252 * Z);
    }
}
