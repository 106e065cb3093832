#!/usr/bin/env python3
"""Images as other programs write and read them: rasters.py PROGRAM.

GeoTIFFs of GDAL, through rasterio, keep their place, no-data value, metadata and bands; PNG files are
read by Pillow, JPEG files are read as Pillow reads them. Python is $TW_PYTHON or that of build/python,
where `make python-setup` installs both, or else this one; what it lacks is named, and the test counts as
skipped. The random numbers are of a fixed seed.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import warnings

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.environ.get("TW_PYTHON", os.path.join(TOP, "build", "python", "bin", "python"))
if os.access(PYTHON, os.X_OK) and "TW_RASTERS_PYTHON" not in os.environ:
    os.environ["TW_RASTERS_PYTHON"] = PYTHON
    os.execv(PYTHON, [PYTHON, *sys.argv])
try:
    import numpy
    import rasterio
    import rasterio.control
    import rasterio.enums
    import rasterio.rpc
    from PIL import Image, ImageFile
except ImportError as missing:
    print(f"skipped: no {missing.name} for {sys.executable}; make python-setup installs it")
    sys.exit(0)

PROGRAM = os.path.abspath(sys.argv[1])
SMALL = "TW_TEST_SMALL" in os.environ
RANDOM = numpy.random.default_rng(18)
TYPES = {"u8": "uint8", "u16": "uint16", "i16": "int16", "i32": "int32", "f32": "float32", "f64": "float64"}
FEATURES = subprocess.run([PROGRAM, "--version", "--verbose"], stdout=subprocess.PIPE, check=True, text=True).stdout
HAS = {line.split()[0] for line in FEATURES.splitlines() if line.endswith("yes")}


def run(*words, status=0):
    # Behind a shell: a child begins with the peak of whoever starts it, and this script's is high.
    done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def make(path, planes, named=True, **options):
    """A GeoTIFF as GDAL writes it."""
    profile = {"driver": "GTiff", "height": planes.shape[1], "width": planes.shape[2], "count": planes.shape[0],
               "dtype": planes.dtype, "crs": "EPSG:32632",
               "transform": rasterio.transform.from_origin(500000.5, 4649776.25, 10, 20), **options}
    with rasterio.open(path, "w", **profile) as file:
        file.write(planes)
        file.update_tags(sensor="two < three & \"four\"", TIFFTAG_DATETIME="2026:11:16 23:00:00")
        file.update_tags(1, STATISTICS_MINIMUM="3")
        for k in range(planes.shape[0]):
            file.update_tags(k + 1, wavelength=f"{490 + k} < nm")
            file.update_tags(k + 1, ns="CALIBRATION", gain=str(k))
        file.scales = [2.0] * planes.shape[0]
        file.units = ["K"] * planes.shape[0]
        if named:
            for k in range(planes.shape[0]):
                file.set_band_description(k + 1, f"B{k:02d}")


def numbers(shape, kind):
    return (RANDOM.random(shape) * 200).astype(TYPES[kind])


def same_place(a, b):
    assert a.crs == b.crs and a.transform == b.transform, (a.profile, b.profile)
    assert a.tags()["sensor"] == b.tags()["sensor"]
    assert a.tags()["TIFFTAG_DATETIME"] == b.tags()["TIFFTAG_DATETIME"]


def storages():
    yield ""
    for codec in ["none", "lzw"] + ["deflate"] * ("zlib" in HAS) + ["zstd"] * ("zstd" in HAS):
        yield codec
        yield codec + ",tiles=16"
        if codec != "none":
            yield codec + ",predictor"
            yield codec + ",predictor,tiles=64,big"
    yield "big"
    yield "big,tiles"


def geotiffs_keep_their_place_and_bands_whatever_their_storage():
    for kind in list(TYPES)[::3] if SMALL else TYPES:
        for turn, (bands, size) in enumerate(((1, (1, 1)), (3, (70, 133)), (4, (65, 128)))):
            planes = numbers((bands, *size), kind)
            tiles = {"tiled": True, "blockxsize": 64, "blockysize": 32} if bands == 3 else {}
            make("in.tif", planes, nodata=7, compress="deflate", **tiles)
            for words in list(storages())[turn::3]:
                run("map", "x", "in.tif", "-o", "out.tif", "-q", "--out-type", kind, *(["--tiff", words] if words else []))
                with rasterio.open("in.tif") as before, rasterio.open("out.tif") as after:
                    same_place(before, after)
                    assert after.nodata == 7 and after.count == bands and after.dtypes[0] == TYPES[kind]
                    assert after.descriptions == before.descriptions, after.descriptions
                    assert [after.tags(k + 1) for k in range(bands)] == [{"wavelength": f"{490 + k} < nm"}
                                                                        for k in range(bands)], after.tags(1)
                    assert after.tags(bands, ns="CALIBRATION") == {"gain": str(bands - 1)}
                    assert set(after.scales) == {2.0} and set(after.units) == {"K"}, (after.scales, after.units)
                    assert (after.read() == planes).all(), (kind, bands, words)
                    assert after.profile["tiled"] == ("tiles" in words and size != (1, 1)) or size == (1, 1)
                    codec = words.split(",")[0] if words else "none"
                    assert after.profile.get("compress", "none") == (codec if codec in ("lzw", "deflate", "zstd")
                                                                     else "none")
                with open("out.tif", "rb") as file:
                    assert file.read(4)[2] == (43 if "big" in words else 42)


def what_is_said_of_values_stays_where_they_do():
    planes = numbers((2, 20, 30), "i16")
    make("in.tif", planes)
    with rasterio.open("in.tif", "r+") as file:
        file.offsets = [3.0, 4.0]
        file.scales = [2.0, 0.5]
    for words, scales, offsets, units in ((["x"], (2.0, 0.5), (3.0, 4.0), ("K", "K")), ([" (x) "], (2.0, 0.5), (3.0, 4.0), ("K", "K")),
                                          (["x", "--plane", "1"], (0.5,), (4.0,), ("K",)),
                                          (["x + 0"], (1.0, 1.0), (0.0, 0.0), (None, None))):
        run("map", *words, "in.tif", "-o", "out.tif", "-q", "--out-type", "i16")
        with rasterio.open("out.tif") as after:
            assert (after.scales, after.offsets, after.units) == (scales, offsets, units), (words, after.scales, after.units)
    run("map", "y", "x=in.tif", "y=in.tif", "-o", "out.tif", "-q")
    run("entropy", "in.tif", "-o", "entropy.tif", "-q", "--range", "auto")
    for path in ("out.tif", "entropy.tif"):
        with rasterio.open(path) as after:
            assert after.scales == (1.0, 1.0) and after.units == (None, None), path


def a_colour_table_stays_with_the_indices_of_it():
    table = {k: (k * 37 % 256, 255 - k, k * k % 256, 255) for k in range(16)}
    indices = RANDOM.integers(0, 16, (1, 20, 30))
    sentence = "in.tif: its elements are indices of a colour table, which is left out"
    for kind, more in (("uint8", {}), ("uint8", {"photometric": "palette"}), ("uint16", {"photometric": "palette"}),
                       ("uint8", {"photometric": "palette", "nbits": 4})):
        with rasterio.open("in.tif", "w", driver="GTiff", width=30, height=20, count=1, dtype=kind, crs="EPSG:32632",
                           transform=rasterio.transform.from_origin(1, 2, 3, 4), **more) as file:
            file.write_colormap(1, table)
            file.write(indices.astype(kind))
        for result in {kind, "uint16"}:
            for storage in ([], ["--tiff", "lzw,tiles=16,big"]):
                said = run("map", "x", "in.tif", "-o", "out.tif", "--out-type", "u16" if result == "uint16" else "u8", *storage).stderr
                with rasterio.open("in.tif") as before, rasterio.open("out.tif") as after:
                    assert after.colorinterp == before.colorinterp == (rasterio.enums.ColorInterp.palette,), (kind, more)
                    assert {k: v for k, v in after.colormap(1).items() if k < 16} == table and after.transform == before.transform
                    assert (after.read() == indices).all() and after.dtypes == (result,)
                assert "colour table" not in said, said
        for words, hint in ((["map", "x", "--out-type", "f32"], f"; --out-type {'u8' if kind == 'uint8' else 'u16'} keeps it"),
                            (["map", "x + 1", "--out-type", "u8"], ""), (["entropy", "--levels", "16"], "")):
            said = run(*words, "in.tif", "-o", "out.tif").stderr
            assert said.count(sentence + hint + "\n") == 1, said
            with rasterio.open("out.tif") as after:
                assert after.colorinterp == (rasterio.enums.ColorInterp.gray,), (words, after.colorinterp)
        assert run("map", "x", "in.tif", "-o", "out.png").stderr.count(sentence + "\n") == 1
    pages = [Image.fromarray(indices[0].astype("uint8"), "P") for _ in range(2)]
    for k, page in enumerate(pages):
        page.putpalette([(k + 1) * (i % 100) for i in range(768)])
    pages[0].save("in.tif", save_all=True, append_images=pages[1:])
    run("map", "x", "in.tif", "-o", "out.tif", "-q", "--out-type", "u8")
    run("map", "x", "in.tif", "-o", "joined.tif", "-q", "--out-type", "u8", "--tiff", "bands")
    with Image.open("out.tif") as after:
        for k, page in enumerate(pages):
            after.seek(k)
            assert after.getpalette() == page.getpalette(), k
    with rasterio.open("joined.tif") as after:
        assert after.count == 2 and after.colorinterp[0] == rasterio.enums.ColorInterp.gray


def white_zeros_stay_white_or_are_spoken_of():
    sentence = "in.tif: 0 is white in it; its elements are taken as they are\n"
    values = numbers((1, 20, 30), "u8")
    make("in.tif", values, photometric="miniswhite")
    for words, kept, out in ((["x"], True, "out.tif"), (["x", "--tiff", "lzw"], True, "out.tif"),
                             (["255 - x"], False, "out.tif"), (["x"], False, "out.png")):
        said = run("map", *words, "in.tif", "-o", out, "--out-type", "u8").stderr
        assert said.count(sentence) == (not kept), (words, said)
        with Image.open(out) as after:
            assert out.endswith("png") or after.tag_v2[262] == (0 if kept else 1), words
            assert (numpy.asarray(after) == (255 - values[0] if (words[0] != "x") != kept else values[0])).all(), words
    assert sentence not in run("entropy", "in.tif", "-o", "out.tif").stderr  # theirs is the same
    with Image.open("out.tif") as after:
        assert after.tag_v2[262] == 1


def pages_lie_each_where_it_did():
    places = [rasterio.transform.from_origin(1000, 2000, 10, 10), rasterio.transform.from_origin(5, 6, 7, 8),
              rasterio.transform.from_origin(1, 2, 3, 4)]
    for heights in ((40, 40, 40), (40, 20, 30)):
        if os.path.exists("in.tif"):
            os.remove("in.tif")
        for k, height in enumerate(heights):
            profile = {"driver": "GTiff", "height": height, "width": 50, "count": 2, "dtype": "uint8", "transform": places[k],
                       "crs": f"EPSG:3263{k}", **({"APPEND_SUBDATASET": "YES"} if k else {})}
            with rasterio.open("in.tif", "w", **profile) as file:
                file.write(numbers((2, height, 50), "u8"))
        for command in (["map", "x + 1"], ["entropy"]):
            run(*command, "in.tif", "-o", "out.tif", "-q")
            run(*command, "in.tif", "-o", "each.tif", "-q", "--tiff", "pages")
            for k in range(6):
                with rasterio.open(f"GTIFF_DIR:{k // 2 + 1}:out.tif") as bands, rasterio.open(f"GTIFF_DIR:{k + 1}:each.tif") as page:
                    for after in (bands, page):
                        assert (after.transform, after.crs.to_epsg()) == (places[k // 2], 32630 + k // 2), (k, after.transform)
                run(*command, "in.tif", "--plane", k, "-o", "one.tif", "-q")
                with rasterio.open("one.tif") as one:
                    assert one.transform == places[k // 2], k
        run("map", "a + b", "a=in.tif[2]", "b=in.tif[3]", "-o", "out.tif", "-q")
        run("entropy", "in.tif[4]", "-o", "valid.tif", "-q", "--border", "valid", "--window", "5")
        with rasterio.open("out.tif") as after, rasterio.open("valid.tif") as moved:
            assert after.transform == places[1] and moved.transform == places[2] * rasterio.Affine.translation(2, 2)
    make("in.tif", numbers((1, 20, 30), "u8"), nodata=7)
    make("in.tif", numbers((1, 20, 30), "u8"), nodata=9, APPEND_SUBDATASET="YES")
    sentence = "in.tif: its pages differ in their no-data values; that of the first counts in all, unless --no-data names another\n"
    assert run("map", "x", "in.tif", "-o", "out.tif").stderr.count(sentence) == 1


def every_kind_of_georeferencing_is_kept():
    planes = numbers((3, 50, 60), "u8")
    points = [rasterio.control.GroundControlPoint(row, col, x, y, 0) for row, col, x, y in
              ((0, 0, 1, 2), (0, 50, 3, 2), (40, 50, 3, 5))]
    kinds = {"rotated": {"transform": rasterio.Affine(10, 2, 5e5, -3, -10, 4e6)},
             "of its own": {"crs": "+proj=laea +lat_0=52 +lon_0=10 +x_0=1 +y_0=2 +ellps=GRS80 +units=m"},
             "degrees": {"crs": "EPSG:4326", "transform": rasterio.transform.from_origin(-180, 90, 0.25, 0.5)},
             "points": {"gcps": points, "crs": "EPSG:4326", "transform": None}, "none": {"crs": None, "transform": None}}
    for kind, more in kinds.items():
        make("in.tif", planes, **more)
        with rasterio.open("in.tif", "r+") as file:
            file.update_tags(AREA_OR_POINT="Point")
        for command in (["map", "x", "--out-type", "u8"], ["entropy"]):
            run(*command, "in.tif", "-o", "out.tif", "-q")
            with rasterio.open("in.tif") as before, rasterio.open("out.tif") as after:
                same_place(before, after)
                assert str(after.gcps) == str(before.gcps) or [p.asdict() | {"id": ""} for p in after.gcps[0]] == [
                    p.asdict() | {"id": ""} for p in before.gcps[0]], (kind, after.gcps)
                assert after.tags()["AREA_OR_POINT"] == "Point" and after.count == 3, kind
                assert after.colorinterp == before.colorinterp, kind


def a_stack_beside_planes_keeps_what_its_bands_are():
    """A mask or a factor of one plane changes no band's name; another stack does."""
    make("in.tif", numbers((3, 20, 30), "u8"))
    make("mask.tif", numbers((1, 20, 30), "u8"))
    make("other.tif", numbers((3, 20, 30), "u8"))
    numpy.save("mask.npy", numbers((1, 20, 30), "u8")[0])
    for name in ("in.tif", "mask.tif", "other.tif"):
        with rasterio.open(name, "r+") as file:
            for band in range(1, file.count + 1):
                file.set_band_description(band, "%s %d" % (name, band))
                file.update_tags(band, which=str(band))
    for inputs, kept in ((["x=in.tif", "m=mask.tif"], True), (["m=mask.npy", "x=in.tif"], True), (["m=mask.tif", "x=in.tif"], True), (["x=in.tif", "m=other.tif"], False)):
        run("map", "m*x", *inputs, "-o", "out.tif", "--out-type", "u8", "-q")
        with rasterio.open("in.tif") as before, rasterio.open("out.tif") as after:
            assert after.descriptions == (before.descriptions if kept else (None,) * 3), (inputs, after.descriptions)
            assert [after.tags(band).get("which") for band in (1, 2, 3)] == (["1", "2", "3"] if kept else [None] * 3), inputs


def bands_that_become_pages_are_not_called_like_the_first():
    make("in.tif", numbers((3, 20, 30), "u8"))
    with rasterio.open("in.tif", "r+") as file:
        file.descriptions = ("red", "green", "blue")
    for words, names in ((["--tiff", "pages"], [(None,)] * 3), ([], [("red", "green", "blue")])):
        run("map", "x", "in.tif", "-o", "out.tif", "-q", *words)
        for page, wanted in enumerate(names):
            with rasterio.open("GTIFF_DIR:%d:out.tif" % (page + 1)) as file:
                assert file.descriptions == wanted, (words, page, file.descriptions)


def coefficients_of_an_orbit_are_kept():
    """GDAL's RPC, which --border valid moves with the elements."""
    rpcs = rasterio.rpc.RPC(height_off=1, height_scale=2, lat_off=3, lat_scale=4, line_den_coeff=[1.5] * 20, line_num_coeff=[2.5] * 20,
                            line_off=30, line_scale=40, long_off=5, long_scale=6, samp_den_coeff=[3.5] * 20, samp_num_coeff=[4.5] * 20,
                            samp_off=50, samp_scale=60)
    make("in.tif", numbers((1, 20, 30), "u8"), crs=None, transform=None, rpcs=rpcs)
    for words, down, right in ((["map", "x"], 0, 0), (["entropy"], 0, 0), (["entropy", "--border", "valid", "-w", "7x3"], 1, 3)):
        run(*words, "in.tif", "-o", "out.tif", "-q")
        with rasterio.open("out.tif") as after:
            kept = after.rpcs.to_dict()
        assert (kept["line_off"], kept["samp_off"]) == (30 - down, 50 - right), (words, kept)
        wanted = rpcs.to_dict()
        for key in wanted:
            assert key in ("line_off", "samp_off") or kept[key] == wanted[key] or not wanted[key], (words, key, kept[key])


def the_bytes_do_not_depend_on_threads():
    make("in.tif", numbers((2, 300, 1111), "f32"))
    numpy.save("in.npy", numbers((3, 700, 900), "u8"))
    for out in ("out.tif", "out.png"):
        storage = ["--tiff", "lzw,predictor,tiles=64"] if out.endswith("tif") else []
        seen = set()
        for threads in (1, 2, 3, 7):
            run("map", "x", "in.tif" if storage else "in.npy", "-o", out, "-q", "--out-type", "f32" if storage else "u8",
                "--threads", threads, *storage)
            with open(out, "rb") as file:
                seen.add(file.read())
        assert len(seen) == 1, out


def either_byte_order_and_every_interleaving_are_read():
    for kind in ("u16",) if SMALL else ("u16", "f32", "f64"):
        planes = numbers((3, 40, 50), kind)
        for order in ("LITTLE", "BIG"):
            for interleave in ("pixel", "band"):
                for big in ("YES", "NO"):
                    make("in.tif", planes, nodata=7, ENDIANNESS=order, interleave=interleave, BIGTIFF=big)
                    run("map", "x", "in.tif", "-o", "out.tif", "-q", "--out-type", "f64")
                    with rasterio.open("in.tif") as before, rasterio.open("out.tif") as after:
                        same_place(before, after)
                        assert after.nodata == 7 and (after.read() == planes).all()


def integers_of_other_widths_are_read():
    for kind, most in (("int8", 2**7 - 1), ("uint32", 2**32 - 1), ("int64", 2**53), ("uint64", 2**53)):
        planes = RANDOM.integers(0, most, (2, 40, 50), endpoint=True).astype(kind)
        planes[:, 0, 0] = most
        if kind[0] == "i":
            planes[:, 0, 1] = -most
        for order in ("LITTLE", "BIG"):
            for more in ({"interleave": "pixel"}, {"interleave": "band", "compress": "deflate"},
                         {"tiled": True, "blockxsize": 16, "blockysize": 16}, {"SPARSE_OK": True, "nodata": 5}):
                profile = {"driver": "GTiff", "height": 40, "width": 50, "count": 2, "dtype": kind, "ENDIANNESS": order, **more}
                with rasterio.open("in.tif", "w", **profile) as file:
                    if "SPARSE_OK" in more:
                        file.write(planes[:, 20:], window=((20, 40), (0, 50)))
                    else:
                        file.write(planes)
                with rasterio.open("in.tif") as file:
                    want = file.read().astype("float64")
                for way in ([], ["--memory", "200k", "--threads", 1]):
                    run("map", "x", "in.tif", "out.npy", "-q", "--out-type", "f64", "--no-data", "none", *way)
                    assert (numpy.load("out.npy") == want).all(), (profile, way)
        run("entropy", "in.tif", "out.npy", "-q", "--range", "auto")
    make("in.tif", numpy.full((1, 2, 3), 2**60), nodata=None)
    assert "row 0, column 0 is about 1152921504606846976" in run("map", "x", "in.tif", status=2).stderr
    make("in.tif", numpy.full((1, 2, 3), 2 + 1j, "complex64"))
    assert "page 0 has 64-bit complex numbers, which are not supported" in run("map", "x", "in.tif", status=2).stderr


def elements_of_few_bits_are_read():
    for bits in (1, 4, 12) if SMALL else (1, 2, 3, 4, 7, 9, 12, 15):
        kind = "uint8" if bits < 8 else "uint16"
        planes = RANDOM.integers(0, 2**bits, (3, 40, 53)).astype(kind)
        for more in ({"interleave": "pixel"}, {"interleave": "band", "compress": "deflate"}, {"ENDIANNESS": "BIG"},
                     {"tiled": True, "blockxsize": 16, "blockysize": 32, "compress": "lzw"}, {"SPARSE_OK": True, "nodata": 1, "blockysize": 4}):
            profile = {"driver": "GTiff", "height": 40, "width": 53, "count": 3, "dtype": kind, "NBITS": bits, **more}
            with rasterio.open("in.tif", "w", **profile) as file:
                if "SPARSE_OK" in more:
                    file.write(planes[:, 20:], window=((20, 40), (0, 53)))
                else:
                    file.write(planes)
            with rasterio.open("in.tif") as file:
                want = file.read()
            for way in ([], ["--memory", "60k", "--threads", 1]):
                run("map", "x", "in.tif", "out.npy", "-q", "--out-type", "u16", "--no-data", "none", *way)
                assert (numpy.load("out.npy") == want).all(), (profile, way)
        run("entropy", "in.tif", "out.npy", "-q", "--levels", max(2, 2**bits))
    mask = Image.fromarray(RANDOM.integers(0, 2, (30, 41)).astype(bool))
    mask.save("in.tif", compression="group4")
    run("map", "x", "in.tif", "out.npy", "-q", "--out-type", "u8")
    assert (numpy.load("out.npy") == numpy.asarray(mask)).all()


def no_data_stays_no_data_in_a_map():
    plane = numbers((1, 30, 40), "f32")
    plane[0, 3, 4] = plane[0, 0, 0] = -9999
    make("in.tif", plane, nodata=-9999)
    said = run("map", "2 * x", "in.tif", "-o", "out.tif").stderr
    assert "in.tif: -9999 means no data" in said, said
    with rasterio.open("out.tif") as after:
        assert after.nodata == -9999
        got = after.read()
        assert (got == numpy.where(plane == -9999, -9999, 2 * plane)).all()
    run("map", "2 * x", "in.tif", "-o", "out.tif", "-q", "--no-data", "none")
    with rasterio.open("out.tif") as after:
        assert after.nodata is None and after.read()[0, 0, 0] == -19998
    plane[plane == -9999] = numpy.nan
    make("in.tif", plane, nodata=numpy.nan)
    run("map", "isnan(x) ? 1 : 2 * x", "in.tif", "-o", "out.tif", "-q")
    with rasterio.open("out.tif") as after:
        assert numpy.isnan(after.nodata) and numpy.isnan(after.read()[0, 0, 0])
    make("other.tif", numbers((1, 30, 40), "f32"), nodata=0)
    said = run("map", "x + y", "in.tif", "y=other.tif", "-o", "out.tif", "-q", status=2).stderr
    assert "choose one for all with --no-data VALUE, or --no-data none" in said, said


def a_no_data_value_that_no_element_can_be_is_ignored():
    """GDAL writes -9999 for bytes, too; rasterio does not, so the number is changed in the file."""
    make("in.tif", numbers((1, 30, 40), "u8"), nodata=123)
    with open("in.tif", "rb") as file:
        content = file.read()
    tag = struct.pack("<HHI", 42113, 2, 4)  # GDAL_NODATA, four bytes of text, which stand in the entry
    assert tag + b"123\0" in content
    for text in (b"-99", b"7.5", b"300", b"nan"):
        with open("odd.tif", "wb") as file:
            file.write(content.replace(tag + b"123\0", tag + text + b"\0"))
        for out in ("out.png", "out.tif"):
            said = run("map", "x", "odd.tif", "-o", out, "--out-type", "u8").stderr
            assert f"odd.tif: no element can be its no-data value {text.decode()}, which is ignored" in said, said
        with rasterio.open("out.tif") as after, rasterio.open("in.tif") as before:
            assert after.nodata is None and (after.read() == before.read()).all()
        run("entropy", "odd.tif", "a.npy", "-q")
        run("entropy", "in.tif", "b.npy", "-q", "--no-data", "none")
        assert (numpy.load("a.npy") == numpy.load("b.npy")).all()
    make("in.tif", numbers((1, 30, 40), "i16"), nodata=-9999)
    said = run("map", "x", "in.tif", "out.png", status=2).stderr
    assert "in.tif: its no-data value -9999 does not fit the result type u8; use another --out-type, or --no-data none" in said
    run("map", "x", "in.tif", "out.png", "-q", "--no-data", "none")


def no_data_does_not_count_in_entropies():
    plane = numbers((1, 20, 30), "i16")
    plane[0, :9, :9] = -32768
    make("in.tif", plane, nodata=-32768)
    run("entropy", "in.tif", "-o", "out.tif", "-q", "--window", 5)
    run("entropy", "in.tif", "named.npy", "-q", "--window", 5, "--no-data=-32768")
    with rasterio.open("in.tif") as before, rasterio.open("out.tif") as after:
        same_place(before, after)
        got = after.read()[0]
        assert numpy.isnan(after.nodata) and after.dtypes[0] == "float32"
        assert numpy.isnan(got[0, 0]) and not numpy.isnan(got[8, 8])
        assert numpy.array_equal(got, numpy.load("named.npy"), equal_nan=True)
    run("entropy", "in.tif", "-o", "out.tif", "-q", "--no-data", "none", status=2)


def blocks_that_a_sparse_file_leaves_out_are_no_data():
    for kind, none in (("u8", None), ("i16", -9), ("f32", numpy.nan), ("f64", -1e30)):
        for blocks in ({"tiled": True, "blockxsize": 64, "blockysize": 64}, {"blockysize": 40}):
            for more in ({}, {"compress": "deflate"}, {"interleave": "band"}):
                profile = {"driver": "GTiff", "height": 200, "width": 150, "count": 2, "dtype": TYPES[kind], "nodata": none,
                           "SPARSE_OK": True, **blocks, **more}
                for rows in (slice(0), slice(64, 128), slice(199, 200)):
                    with rasterio.open("in.tif", "w", **profile) as file:
                        if rows.stop > 0:
                            part = numbers((2, rows.stop - rows.start, 150), kind)
                            file.write(part, window=((rows.start, rows.stop), (0, 150)))
                    with rasterio.open("in.tif") as file:
                        want = file.read()
                    assert (want[0, 0] == want[0, 0, 0]).all() or numpy.isnan(want[0, 0]).all()
                    for cap in ([], ["--memory", "900k" if kind == "f64" else "300k"]):  # row by row: reals
                        run("map", "x", "in.tif", "out.npy", "-q", "--out-type", kind, "--no-data", "none", "--threads", 1, *cap)
                        assert numpy.array_equal(numpy.load("out.npy"), want, equal_nan=kind[0] == "f"), (profile, rows)


def overviews_and_masks_are_no_planes():
    plane = numbers((1, 600, 700), "u8")
    make("in.tif", plane, tiled=True, blockxsize=128, blockysize=128)
    with rasterio.open("in.tif", "r+") as file:
        file.build_overviews([2, 4])
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open("in.tif", "r+") as file:
        file.write_mask(plane[0] > 3)
    run("map", "x", "in.tif", "-o", "out.tif", "-q", "--out-type", "u8")
    with rasterio.open("out.tif") as after:
        assert after.count == 1 and (after.read() == plane).all() and after.overviews(1) == []


def bands_are_chosen_by_number_and_name():
    planes = numbers((4, 50, 60), "f32")
    make("s2.tif", planes)
    run("map", "(nir - red) / (nir + red)", "nir=s2.tif[3]", "red=s2.tif[b02]", "-o", "out.tif", "-q", "--verify")
    with rasterio.open("out.tif") as after, rasterio.open("s2.tif") as before:
        same_place(before, after)
        got = after.read()
        want = (planes[3] - planes[2]) / (planes[3] + planes[2])
        assert after.count == 1 and after.descriptions == (None,) and (got[0] == want).all()
        assert after.tags(1) == {}
    run("entropy", "s2.tif", "-o", "one.tif", "-q", "--plane", 2, "--range", "auto")
    with rasterio.open("one.tif") as after:
        assert after.count == 1 and after.descriptions == ("B02",)
        assert after.tags(1) == {"wavelength": "492 < nm"}, after.tags(1)
    said = run("map", "x", "s2.tif[swir]", status=2).stderr
    assert "no band named 'swir'; there are 'B00', 'B01', 'B02', 'B03'" in said, said
    with rasterio.open("s2.tif", "r+") as file:
        file.set_band_description(4, "b02")
    for name, plane in (("B02", 2), ("b02", 3)):  # as written before in any case
        run("map", "x", f"s2.tif[{name}]", "case.npy", "-q")
        assert (numpy.load("case.npy") == planes[plane]).all(), name


def a_name_of_two_bands_is_refused_and_one_that_is_a_number_is_said():
    planes = numbers((4, 5, 6), "f32")
    make("t.tif", planes, named=False)

    def name(*names):
        with rasterio.open("t.tif", "r+") as file:
            for k, text in enumerate(names):
                file.set_band_description(k + 1, text)

    def taken(word):
        """The plane of t.tif[word], and what is said."""
        said = run("map", "x", f"x=t.tif[{word}]", "-o", "out.npy").stderr
        return [k for k in range(4) if (numpy.load("out.npy") == planes[k]).all()], said

    name("red", "Red", "red", "RED")
    for command in (["map", "x", "x=t.tif[red]"], ["entropy", "t.tif[red]", "--range", "auto"]):
        said = run(*command, status=2).stderr
        assert "t.tif has two bands named 'red': planes 0 and 2; choose one by its number" in said, said
    assert "two bands named 'rEd': planes 0 and 1" in run("map", "x", "x=t.tif[rEd]", status=2).stderr
    assert taken("RED")[0] == [3] and taken("2")[0] == [2]
    name("4", "3", "2", "nir")
    for word, plane, sentence in (("3", 3, "t.tif[3] is plane 3; the band named '3' is plane 1"),
                                  ("4", 0, "t.tif[4] is the band named '4', plane 0"), ("2", 2, None), ("1", 1, None)):
        got, said = taken(word)
        assert got == [plane] and (said.count(sentence) == 1 if sentence else "t.tif[" not in said), (word, got, said)
    name("g[0]", "a]", "[", "s[1].tif")
    for plane, word in enumerate(("g[0]", "a]", "[", "s[1].tif")):
        assert taken(word)[0] == [plane], word
    os.rename("t.tif", "t[1].tif")
    run("map", "x", "x=t[1].tif[g[0]]", "-o", "out.npy", "-q")
    assert (numpy.load("out.npy") == planes[0]).all()
    assert "cannot read 't.tif':" in run("map", "x", "x=t.tif[g[0]]", status=2).stderr


def rasters_larger_than_the_memory_stream():
    """Resident memory beside what the program takes for nothing."""
    side, bands = (600, 2) if SMALL else (3000, 2)
    cap = 4 if SMALL else 20
    planes = numbers((bands, side, side), "f32")
    make("in.tif", planes, tiled=True, compress="deflate")
    for words in ("", "deflate,predictor", "lzw,tiles=64"):
        for command in (["map", "x + 1"], ["entropy", "--levels", 16, "--range", "0:200"]):
            out = run(*command[:2], *command[2:], "in.tif", "-o", "out.tif", "-q", "--memory", f"{cap}M", "--json",
                      "--threads", 2, *(["--tiff", words] if words else []))
            peak = json.loads(out.stdout)["peak_rss"]
            assert SMALL or peak < 1.1 * cap * 1e6 + 16e6, (command, words, peak)
            with rasterio.open("out.tif") as after, rasterio.open("in.tif") as before:
                same_place(before, after)
                assert after.count == bands
                if command[0] == "map":
                    assert (after.read() == planes + 1).all()


def interleaved_bands_are_decoded_together():
    """A file of many, larger than the memory: once for as many as fit, with less one at a time."""
    planes = numbers((24, 200, 350), "u16")
    for options in ({}, {"tiled": True, "blockxsize": 16, "blockysize": 32}):
        make("in.tif", planes, compress="deflate", interleave="pixel", **options)
        for command in (("map", "x ^ 2 + 1", "in.tif", "-t", "f32"), ("entropy", "in.tif", "-w", 3, "--range", "auto")):
            run(*command, "-o", "whole.tif")
            for limit in ("2M", "1200k", "300k"):
                said = run(*command, "-o", "out.tif", "--memory", limit, "--threads", 1).stderr
                found = re.search(r"in\.tif: only (\d+) planes fit in memory at a time, so the file is decoded about (\d+) times", said)
                assert found or limit != "2M", said
                assert not found or 2 <= int(found[1]) and int(found[2]) == -(-24 // int(found[1])), said
                with rasterio.open("whole.tif") as whole, rasterio.open("out.tif") as out:
                    assert numpy.array_equal(whole.read(), out.read(), equal_nan=True), (options, command, limit)
                    same_place(whole, out)


def pngs_are_read_by_others():
    for kind in ("u8", "u16"):
        for size in ((3, 5), (700, 900)) if SMALL else ((1, 1), (3, 5), (700, 900), (1, 40000), (2000, 1)):
            for channels in (1, 4) if SMALL else (1, 2, 3, 4):
                planes = RANDOM.integers(-3, 4, (channels, *size)).cumsum(axis=2).astype(TYPES[kind])
                numpy.save("in.npy", planes)
                for level in ([], ["--compression", 0], ["--compression", 9])[:3 if size == (3, 5) else 1]:
                    run("map", "x", "in.npy", "out.png", "-q", "--out-type", kind, *level)
                    run("map", "x", "out.png", "-o", "again.png", "-q", *level)  # opacity goes through, too
                    with open("out.png", "rb") as one, open("again.png", "rb") as two:
                        assert one.read() == two.read()
                    with Image.open("out.png") as image:
                        image.load()
                        got = numpy.asarray(image)
                    if kind == "u8" or channels == 1:  # Pillow has no colours of 16 bits
                        got = got[None] if got.ndim == 2 else got.transpose(2, 0, 1)
                        assert (got == planes).all(), (kind, size, channels)


def alpha_is_left_alone_and_colours_become_grey():
    planes = RANDOM.integers(0, 256, (300, 400, 4)).astype("uint8")
    Image.fromarray(planes, "RGBA").save("in.png")
    run("map", "255 - x", "in.png", "-o", "out.png", "-q")
    got = numpy.asarray(Image.open("out.png"))
    assert (got[:, :, 3] == planes[:, :, 3]).all() and (got[:, :, :3] == 255 - planes[:, :, :3]).all()
    run("entropy", "in.png", "-o", "out.png", "-q")
    assert (numpy.asarray(Image.open("out.png"))[:, :, 3] == planes[:, :, 3]).all()
    run("map", "255 - x", "in.png", "out.tif", "-q", "--out-type", "u8")
    with rasterio.open("out.tif") as after:
        assert after.count == 4 and (after.read(4) == planes[:, :, 3]).all()
        assert [c.name for c in after.colorinterp] == ["red", "green", "blue", "alpha"]
    said = run("map", "x", "in.png", "out.npy").stderr
    assert "the alpha channel of in.png is left out" in said and numpy.load("out.npy").shape == (3, 300, 400)
    exact = planes[:, :, :3].astype(int) @ [2126, 7152, 722]  # ten thousandths; a half may go either way
    for cap in ([], ["--memory", "800k", "--threads", 1]):  # as a whole, and decoded in bands
        run("map", "x", "in.png", "out.npy", "--grey", "-q", "--out-type", "u8", *cap)
        assert (abs(numpy.load("out.npy").astype(int) * 10000 - exact) <= 5000).all(), cap
    run("entropy", "in.png", "a.npy", "--grey", "-q")
    run("entropy", "out.npy", "-o", "b.npy", "-q")
    assert (numpy.load("a.npy") == numpy.load("b.npy")).all()
    numpy.save("stack.npy", numbers((3, 4, 5), "u8"))
    assert "not red, green and blue" in run("map", "x", "stack.npy", "--grey", status=2).stderr


def colours_and_opacity_stay_where_they_stand():
    """Whatever GDAL calls the bands: in ExtraSamples, or in its metadata where TIFF has no word for it."""
    c = rasterio.enums.ColorInterp
    other = c.undefined
    for kinds in ([c.red, c.green, c.blue, c.alpha, other], [c.red, c.green, c.blue, other, c.alpha], [c.gray, c.alpha, other],
                  [c.gray, other, other, c.alpha], [c.red, c.green, c.blue, other], [c.blue, c.green, c.red, c.alpha],
                  [c.alpha, c.red, c.green, c.blue], [c.red, c.green, c.blue], [c.gray, other], [c.gray, c.alpha]):
        for kind in ("u8",) if SMALL else ("u8", "u16"):
            planes = numbers((len(kinds), 30, 40), kind)
            make("in.tif", planes, photometric="RGB" if kinds[0] == c.red else "MINISBLACK")
            with rasterio.open("in.tif", "r+") as file:
                file.colorinterp = kinds
            alpha = kinds.index(c.alpha) if c.alpha in kinds else -1
            for way in ([], ["--tiff", "lzw,tiles=16"], ["--memory", "40k", "--threads", 1]):
                run("map", "255 - x", "in.tif", "-o", "out.tif", "-q", "--out-type", kind, *way)
                with rasterio.open("out.tif") as after, rasterio.open("in.tif") as before:
                    assert after.colorinterp == before.colorinterp == tuple(kinds), (kinds, after.colorinterp)
                    assert after.descriptions == before.descriptions
                    for k, got in enumerate(after.read()):
                        assert (got == (planes[k] if k == alpha else 255 - planes[k])).all(), (kinds, k)
            # Its type is not that of the result: names and colours are those of the bands that are left.
            said = run("map", "x + 0.5", "in.tif", "-o", "out.tif").stderr
            assert ("the alpha channel of in.tif is left out" in said) == (alpha >= 0), said
            left = [k for k in range(len(kinds)) if k != alpha]
            with rasterio.open("out.tif") as after:
                assert (after.read() == planes[left] + numpy.float32(0.5)).all()
                assert after.descriptions == tuple(f"B{k:02d}" for k in left), (kinds, after.descriptions)
                assert after.colorinterp == tuple(kinds[k] for k in left), (kinds, after.colorinterp)
            run("entropy", "in.tif", "-o", "out.tif", "-q", "--out-type", kind, "--levels", 256)
            with rasterio.open("out.tif") as after:
                assert after.colorinterp == tuple(kinds) and (alpha < 0 or (after.read(alpha + 1) == planes[alpha]).all())
            if alpha >= 0 and len(kinds) in (2, 4) and kinds != [c.gray, other, other, c.alpha]:
                run("map", "255 - x", "in.tif", "-o", "out.png", "-q", "--out-type", kind)  # where opacity is last
                run("map", "x", "out.png", "-o", "out.npy", "-q", "--out-type", kind)
                assert (numpy.squeeze(numpy.load("out.npy")) == numpy.squeeze(255 - planes[left])).all(), kinds
                run("map", "x", "out.png", "-o", "one.npy", "-q", "--out-type", kind, "--plane", len(kinds) - 1)
                assert (numpy.load("one.npy") == planes[alpha]).all(), kinds
    make("in.tif", numbers((4, 30, 40), "u8"), photometric="RGB", ALPHA="PREMULTIPLIED")
    run("map", "x", "in.tif", "-o", "out.tif", "-q", "--out-type", "u8")
    with open("out.tif", "rb") as file:
        assert struct.pack("<HHIH", 338, 3, 1, 1) in file.read()  # still multiplied
    make("in.tif", numbers((4, 30, 40), "u8"), photometric="RGB", ALPHA="NO")
    run("map", "a - b", "a=in.tif", "b=in.tif[1]", "-o", "out.tif", "-q", "--out-type", "u8")
    with rasterio.open("out.tif") as after:
        assert after.colorinterp == (c.red, c.green, c.blue, other)
    with rasterio.open("in.tif", "r+") as file:
        file.colorinterp = (c.blue, c.green, c.red, other)
    assert "not red, green and blue" in run("map", "x", "in.tif", "--grey", status=2).stderr


def the_opacity_of_every_page_is_left_alone():
    pages = [Image.fromarray(RANDOM.integers(0, 256, (30, 40, 4)).astype("uint8"), "RGBA") for _ in range(3)]
    pages[0].save("in.tif", save_all=True, append_images=pages[1:])
    run("map", "255 - x", "in.tif", "-o", "out.tif", "-q", "--out-type", "u8")
    with Image.open("out.tif") as image:
        assert image.n_frames == 3
    for k, page in enumerate(pages):
        with rasterio.open(f"GTIFF_DIR:{k + 1}:out.tif") as after:
            want = numpy.asarray(page).transpose(2, 0, 1)
            assert (after.read(4) == want[3]).all() and (after.read()[:3] == 255 - want[:3]).all()
            assert [kind.name for kind in after.colorinterp] == ["red", "green", "blue", "alpha"]
    run("map", "x", "in.tif", "-o", "out.npy", "-q")
    assert numpy.load("out.npy").shape == (9, 30, 40)
    pages[0].save("in.tif", save_all=True, append_images=[pages[1].convert("RGB"), pages[2]])
    said = run("map", "255 - x", "in.tif", "-o", "out.npy").stderr
    assert "in.tif: its pages are not alike, so their alpha channels count like other planes" in said, said
    assert numpy.load("out.npy").shape == (11, 30, 40)


def colours_that_jpeg_codes_are_red_green_and_blue():
    """As Pillow reads them, which decodes strip by strip; GDAL rounds and joins its own way."""
    if "jpeg" not in HAS:  # libtiff's own is not asked for, but there are builds with neither
        return
    smooth = Image.fromarray(RANDOM.integers(0, 255, (10, 10, 3)).astype("uint8")).resize((150, 130))
    planes = numpy.asarray(smooth).transpose(2, 0, 1)
    for more in ({}, {"blockysize": 16}, {"tiled": True, "blockxsize": 64, "blockysize": 48}, {"BIGTIFF": "YES"}):
        make("in.tif", planes, compress="JPEG", photometric="YCBCR", **more)
        with Image.open("in.tif") as image:
            want = numpy.asarray(image.convert("RGB")).astype(int).transpose(2, 0, 1)
        for way in ([], ["--memory", "300k", "--threads", 1]):
            run("map", "x", "in.tif", "-o", "out.tif", "-q", "--out-type", "u8", *way)
            with rasterio.open("in.tif") as before, rasterio.open("out.tif") as after:
                same_place(before, after)
                assert [kind.name for kind in after.colorinterp] == ["red", "green", "blue"]
                got = after.read().astype(int)
                assert abs(got - want).max() <= 4 and abs(got - before.read()).mean() < 3, (more, way)
    run("map", "x", "in.tif", "-o", "grey.npy", "-q", "--grey", "--out-type", "u8")
    assert abs(numpy.load("grey.npy") - numpy.tensordot([0.2126, 0.7152, 0.0722], want, 1)).max() <= 5
    if not SMALL:
        make("in.tif", numpy.tile(planes, (1, 16, 16)), compress="JPEG", photometric="YCBCR", tiled=True)
        peak = json.loads(run("map", "x", "in.tif", "-o", "out.tif", "-q", "--memory", "6M", "--json").stdout)["peak_rss"]
        assert peak < 1.1 * 6e6 + 16e6, peak
    smooth.convert("YCbCr").save("in.tif")
    assert "page 0: its colours are coded as YCbCr, which is read in JPEG compression only" in run("map", "x", "in.tif", status=2).stderr


def a_smaller_result_lies_where_its_elements_do():
    """Entropies of whole windows only: the first is that of an element inside."""
    origin = rasterio.transform.from_origin(1000, 2000, 10, 20)
    numpy.save("foot.npy", numpy.ones((3, 7), "uint8"))
    move = rasterio.Affine.translation
    for place in (origin, rasterio.Affine(10, 1, 1000, 2, -10, 2000), rasterio.Affine(10, 0, 0, 0, 10, 0)):
        for point in ("Area", "Point"):
            make("in.tif", numbers((1, 20, 30), "u8"), transform=place)
            with rasterio.open("in.tif", "r+") as file:
                file.update_tags(AREA_OR_POINT=point)
            for words, cols, rows in ((["-w", 5], 2, 2), (["-w", 4], 2, 2), (["-w", "7x3"], 3, 1), (["--radius", 3], 3, 3),
                                      (["--footprint", "foot.npy"], 3, 1), (["--footprint", "foot.npy", "--anchor", "2,6"], 6, 2)):
                run("entropy", "in.tif", "-o", "out.tif", "-q", "--border", "valid", *words)
                with rasterio.open("out.tif") as after:
                    assert after.transform.almost_equals(place * move(cols, rows)), (place, words, after.transform)
                run("entropy", "in.tif", "-o", "out.tif", "-q", *words)
                with rasterio.open("out.tif") as after:
                    assert after.transform.almost_equals(place)
    points = [rasterio.control.GroundControlPoint(row, col, x, y, 0) for row, col, x, y in ((0, 0, 1, 2), (0, 25, 3, 2), (19, 25, 3, 5))]
    make("in.tif", numbers((1, 20, 30), "u8"), gcps=points, crs="EPSG:4326", transform=None)
    run("entropy", "in.tif", "-o", "out.tif", "-q", "--border", "valid", "-w", "7x3")
    with rasterio.open("out.tif") as after:
        assert [(p.row, p.col, p.x, p.y) for p in after.gcps[0]] == [(p.row - 1, p.col - 3, p.x, p.y) for p in points]


def the_place_is_that_of_an_input_of_the_size_of_the_result():
    place = rasterio.transform.from_origin(7, 8, 9, 10)
    make("row.tif", numbers((1, 1, 30), "u8"))
    make("col.tif", numbers((1, 20, 1), "u8"))
    make("in.tif", numbers((1, 20, 30), "u8"), transform=place)
    numpy.save("in.npy", numbers((20, 30), "u8"))
    for first in ("row.tif", "in.npy"):
        said = run("map", "a + b", f"a={first}", "b=in.tif", "-o", "out.tif").stderr
        assert "the georeferencing and metadata are those of in.tif" in said, said
        with rasterio.open("out.tif") as after, rasterio.open("in.tif") as before:
            same_place(before, after)
    said = run("map", "a + b", "a=row.tif", "b=col.tif", "-o", "out.tif").stderr
    assert "the georeferencing and metadata of row.tif, which is repeated, are left out" in said, said
    with rasterio.open("out.tif") as after:
        assert after.crs is None
    assert "georeferencing" not in run("map", "a + b", "a=in.tif", "b=row.tif", "-o", "out.tif").stderr


def planes_are_bands_where_an_input_has_them_as_bands():
    make("three.tif", numbers((3, 20, 30), "u8"), photometric="rgb")
    make("one.tif", numbers((1, 20, 30), "u8"))
    numpy.save("one.npy", numbers((20, 30), "u8"))
    numpy.save("stack.npy", numbers((3, 20, 30), "u8"))
    for other in ("one.tif", "one.npy", "stack.npy", "three.tif"):
        for words in ([f"m={other}", "x=three.tif"], ["x=three.tif", f"m={other}"]):
            run("map", "m * x", *words, "-o", "out.tif", "-q")
            with rasterio.open("out.tif") as after, rasterio.open("three.tif") as before:
                assert after.count == 3 and after.colorinterp == before.colorinterp, (words, after.count)
                same_place(before, after)
    run("map", "m * x", "m=one.npy", "x=stack.npy", "-o", "out.tif", "-q")
    with rasterio.open("out.tif") as after:
        assert after.count == 1 and len(after.subdatasets) == 3


def no_data_is_read_as_gdal_reads_it():
    make("in.tif", numbers((1, 3, 4), "f32"), nodata=123)
    with open("in.tif", "rb") as file:
        content = file.read()
    head = struct.pack("<HHI", 42113, 2, 4) + b"123\0"
    assert head in content
    for text in ("-1.#QNAN", "1.#QNAN", "-1.#IND", "1.#INF", "-1.#INF", "-1,5", " 2.5 ", "nan", "1e3"):
        data = text.encode() + b"\0"
        entry = struct.pack("<HHI", 42113, 2, len(data))
        entry += data.ljust(4, b"\0") if len(data) <= 4 else struct.pack("<I", len(content))
        with open("odd.tif", "wb") as file:
            file.write(content.replace(head, entry) + data)
        run("map", "x", "odd.tif", "-o", "out.tif", "-q")
        with rasterio.open("odd.tif") as before, rasterio.open("out.tif") as after:
            assert str(before.nodata) == str(after.nodata), (text, before.nodata, after.nodata)
    for text in ("abc", "1x2"):
        with open("odd.tif", "wb") as file:
            file.write(content.replace(head, head[:8] + text.encode() + b"\0"))
        assert f"odd.tif: its no-data value '{text}' is not a number, and is ignored" in run("map", "x", "odd.tif").stderr


def grey_of_a_colour_without_data_is_no_data():
    for kind, none in (("u8", 0), ("u16", 65535), ("i16", -9999), ("i32", -2**31), ("f32", float(numpy.float32(0.1))), ("f64", -1e30)):
        planes = numbers((3, 5, 6), kind) + numpy.array(1, TYPES[kind])
        for k in range(3):
            planes[k, k, 1] = none
        make("in.tif", planes, photometric="RGB", nodata=none)
        for way in ([], ["--memory", "60k", "--threads", 1]):
            run("map", "x", "in.tif", "-o", "out.tif", "-q", "--grey", "--out-type", kind, *way)
            with rasterio.open("out.tif") as after:
                assert ((after.read(1) == none) == (planes == none).any(axis=0)).all(), (kind, after.read(1))
        run("entropy", "in.tif", "-o", "out.tif", "-q", "--grey", "--range", "0:300", "-w", 1)
        with rasterio.open("out.tif") as after:
            assert (numpy.isnan(after.read(1)) == (planes == none).any(axis=0)).all(), kind
        run("map", "x", "in.tif", "-o", "out.tif", "-q", "--grey", "--out-type", "f64", "--no-data", "none")
        with rasterio.open("out.tif") as after:
            assert not (after.read(1) == none).any()


def the_corner_that_comes_first_is_kept():
    image = Image.fromarray(RANDOM.integers(0, 256, (20, 30)).astype("uint8"))
    image.save("in.tif", tiffinfo={274: 6})
    run("map", "x", "in.tif", "-o", "out.tif", "-q", "--out-type", "u8")
    with Image.open("out.tif") as after:
        assert after.tag_v2[274] == 6


def colours_side_by_side_are_spoken_of():
    numpy.save("in.npy", numbers((40, 50, 3), "u8"))
    for words in (["entropy", "in.npy"], ["map", "x", "in.npy"]):
        said = run(*words).stderr
        sentence = "in.npy is read as 40 planes of 50 x 3; if it is one image of 3 colours, save it with transpose(2, 0, 1)"
        assert said.count(sentence) == 1, said
    numpy.save("in.npy", numbers((3, 40, 50), "u8"))
    assert "transpose" not in run("map", "x", "in.npy").stderr


def jpegs_are_read_as_others_read_them():
    if "jpeg" not in HAS:
        return
    photo = (RANDOM.integers(-3, 4, (90, 120, 3)).cumsum(axis=1) % 256).astype("uint8")
    for mode, options in (("RGB", {}), ("RGB", {"progressive": True}), ("L", {}), ("RGB", {"subsampling": 2})):
        Image.fromarray(photo).convert(mode).save("in.jpg", quality=85, **options)
        run("map", "x", "in.jpg", "out.npy", "-q", "--out-type", "u8")
        want = numpy.asarray(Image.open("in.jpg")).astype(int)
        got = numpy.load("out.npy").astype(int)
        got = got.transpose(1, 2, 0) if got.ndim == 3 else got
        assert got.shape == want.shape and abs(got - want).max() <= 4  # builds of libjpeg round their own way
    large = numpy.tile(photo, (10, 10, 1))
    ImageFile.MAXBLOCK = 1 << 24  # else Pillow cannot write it
    Image.fromarray(large).save("in.jpg", quality=85, progressive=True, subsampling=0)
    for command in (["map", "x"], ["entropy"]):  # all coefficients are held: two bytes for each of 904 x 1200 x 3
        said = run(*command, "in.jpg", "out.png", "-q", "--memory", "5M", status=2).stderr
        assert "in.jpg is a progressive JPEG, which is decoded as a whole: that needs 6.7 MB of memory, but only" in said, said
        assert not os.path.exists("out.png")
        peak = json.loads(run(*command, "in.jpg", "out.png", "-q", "--memory", "12M", "--json").stdout)["peak_rss"]
        assert SMALL or peak < 1.1 * 12e6 + 16e6, (command, peak)
        run(*command, "in.jpg", "whole.png", "-q")
        with open("out.png", "rb") as one, open("whole.png", "rb") as two:
            assert one.read() == two.read()
        os.remove("out.png")
    Image.fromarray(large).save("in.jpg", quality=85)
    run("map", "x", "in.jpg", "out.png", "-q", "--memory", "2M")  # row by row
    turned = Image.Exif()
    turned[274] = 6
    Image.fromarray(photo).save("in.jpg", exif=turned)
    for words in (["map", "x", "in.jpg"], ["entropy", "in.jpg"]):
        assert run(*words).stderr.count("in.jpg: its orientation tag is ignored: rows are in the order in which they are stored") == 1
    turned[274] = 1
    Image.fromarray(photo).save("in.jpg", exif=turned)
    assert "turned" not in run("map", "x", "in.jpg").stderr
    Image.fromarray(photo).convert("CMYK").save("in.jpg")
    assert "convert it to grey or RGB" in run("entropy", "in.jpg", status=2).stderr


def a_mask_that_is_not_applied_is_spoken_of():
    """Inside the file, of one or of many, and beside it."""
    values = numbers((1, 30, 40), "u8")
    make("in.tif", values)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open("in.tif", "r+") as file:
        file.write_mask(numpy.arange(1200).reshape(30, 40) % 2 == 0)
    for words in (["map", "x", "in.tif"], ["entropy", "in.tif"], ["map", "x", "in.tif", "--out-dir", "out"]):
        said = run(*words).stderr
        assert said.count("in.tif: its mask is not applied: masked elements count like any other") == 1, said
        assert "mask" not in run(*words, "-q").stderr
    make("beside.tif", values)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False), rasterio.open("beside.tif", "r+") as file:
        file.write_mask(numpy.arange(1200).reshape(30, 40) % 2 == 0)
    assert "beside.tif.msk is not read: masked elements count like any other" in run("map", "x", "beside.tif").stderr
    make("plain.tif", values)
    assert "not read" not in run("map", "x", "plain.tif").stderr


def photographs_are_not_taken_for_results():
    """Of another kind than the input: what others wrote stays, what tilewright wrote is made again and says so."""
    values = numbers((1, 30, 40), "u8")
    make("photo.tif", values)
    with rasterio.open("photo.tif", "r+") as file:
        file.update_tags(TIFFTAG_SOFTWARE="camera")
    Image.fromarray(values[0]).save("photo.png")
    numpy.save("photo.npy", values)
    for source, other in (("photo.png", "photo.tif"), ("photo.tif", "photo.png"), ("photo.tif", "photo.npy"), ("photo.npy", "photo.png")):
        with open(other, "rb") as file:
            kept = file.read()
        for words in (["entropy", source], ["map", "x", source]):
            said = run(*words, other, "-q", status=2).stderr
            assert f"'{other}' already exists and may be an input: use -o '{other}' to replace it" in said, said
        with open(other, "rb") as file:
            assert file.read() == kept
    for again in range(2):
        run("entropy", "photo.tif", "out.png", "-q")
        run("map", "x", "photo.tif", "out.npy", "-q", "--out-type", "u8")
        run("map", "x", "photo.png", "out.tif", "-q", "--out-type", "u8", *(["--tiff", "deflate"] if again else []))
        run("map", "x / 2", "out.tif", "half.npy", "-q")
        run("map", "x", "half.npy", "half.tif", "-q")
    with Image.open("out.png") as image:
        assert image.info["Software"] == "tilewright"
    with rasterio.open("out.tif") as file:
        assert file.tags()["TIFFTAG_SOFTWARE"] == "tilewright"
    assert (numpy.load("out.npy") == values[0]).all()
    run("map", "x", "photo.tif", "-o", "photo.png", "-q")
    run("map", "x", "photo.tif", "kept.tif", "-q")
    with rasterio.open("photo.tif") as before, rasterio.open("kept.tif") as file:
        same_place(before, file)
        assert before.tags()["TIFFTAG_SOFTWARE"] == "camera" and file.tags()["TIFFTAG_SOFTWARE"] == "tilewright"


def main():
    warnings.simplefilter("ignore")
    if os.environ.get("TW_TEST_SMALL") == "emulated":
        print("skipped: the same on every architecture")
        return
    if not {"png", "tiff"} <= HAS:
        print("skipped: this build does not have both PNG and TIFF")
        return
    for name, check in list(globals().items()):
        if callable(check) and getattr(check, "__module__", "") == "__main__" and "_" in name and name not in (
                "same_place",):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                check()
                os.chdir("/")
            print(f"ok: {name.replace('_', ' ')}")


main()
