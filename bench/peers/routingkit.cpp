/*
 * A peer to be measured against: RoutingKit's contraction hierarchy, built once; then all vertices
 * are pinned as targets and searched for from one source after the other, the sources shared among
 * the threads of the machine. Link it with that library (-lroutingkit, version 2 of its API).
 *
 * routingkit IN OUT [EVERY] reads edge triples and writes the raw rows of every EVERY-th source, of
 * all by default. The times of the parts go to standard error, and the processor time of all
 * threads for the searches.
 */
#include <routingkit/constants.h>
#include <routingkit/contraction_hierarchy.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <thread>
#include <vector>

namespace
{

constexpr std::int32_t kInfinite = 1073741823;
constexpr std::size_t kSourcesAtOnce = 16;

struct Graph {
    unsigned n = 0;
    std::vector<unsigned> tail, head, weight;
};

double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

bool read_graph(const char *path, Graph &graph)
{
    std::int32_t head[2] = {0, 0};
    std::FILE *file = std::fopen(path, "rb");
    if (file == nullptr) {
        return false;
    }
    bool good = std::fread(head, sizeof head, 1, file) == 1 && head[0] >= 0 && head[1] >= 0;
    std::vector<std::int32_t> triples(good ? 3 * std::size_t(head[1]) : 0);
    good = good && std::fread(triples.data(), 4, triples.size(), file) == triples.size();
    std::fclose(file);
    graph.n = unsigned(head[0]);
    for (std::size_t i = 0; good && i < triples.size(); i += 3) {
        graph.tail.push_back(unsigned(triples[i]));
        graph.head.push_back(unsigned(triples[i + 1]));
        graph.weight.push_back(unsigned(triples[i + 2]));
    }
    return good;
}

void search_all(const RoutingKit::ContractionHierarchy &hierarchy, std::size_t n, std::size_t every,
                std::vector<std::int32_t> &rows)
{
    std::atomic<std::size_t> next{0};
    const std::size_t sources = (n + every - 1) / every;
    std::vector<unsigned> all(n);
    std::iota(all.begin(), all.end(), 0U);
    auto work = [&] {
        RoutingKit::ContractionHierarchyQuery query(hierarchy);
        std::vector<unsigned> found(n);
        query.reset().pin_targets(all);
        for (std::size_t first; (first = next.fetch_add(kSourcesAtOnce)) < sources;) {
            for (std::size_t s = first; s < sources && s < first + kSourcesAtOnce; s++) {
                query.reset_source().add_source(unsigned(s * every)).run_to_pinned_targets();
                query.get_distances_to_targets(found.data());
                for (std::size_t v = 0; v < n; v++) {
                    rows[s * n + v] =
                        found[v] == RoutingKit::inf_weight ? kInfinite : std::int32_t(found[v]);
                }
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); t++) {
        threads.emplace_back(work);
    }
    work();
    for (std::thread &thread : threads) {
        thread.join();
    }
}

} // namespace

int main(int argc, char **argv)
{
    const long every = argc == 4 ? std::atol(argv[3]) : 1;
    if (argc < 3 || argc > 4 || every < 1) {
        std::fprintf(stderr, "usage: routingkit TRIPLES RAW [EVERY]\n");
        return 2;
    }
    Graph graph;
    const double begun = now();
    if (!read_graph(argv[1], graph)) {
        std::fprintf(stderr, "routingkit: cannot read %s\n", argv[1]);
        return 2;
    }
    const std::size_t sources = (graph.n + std::size_t(every) - 1) / std::size_t(every);
    std::vector<std::int32_t> rows(sources * graph.n);
    const double read = now();
    const auto hierarchy =
        RoutingKit::ContractionHierarchy::build(graph.n, graph.tail, graph.head, graph.weight);
    const double built = now();
    const std::clock_t before = std::clock(); /* of all threads */
    search_all(hierarchy, graph.n, std::size_t(every), rows);
    const double used = double(std::clock() - before) / CLOCKS_PER_SEC;
    const double computed = now();
    std::FILE *file = std::fopen(argv[2], "wb");
    bool good = file != nullptr && std::fwrite(rows.data(), 4, rows.size(), file) == rows.size();
    good = file != nullptr && std::fclose(file) == 0 && good;
    std::fprintf(stderr,
                 "{\"read\": %.4f, \"build\": %.4f, \"compute\": %.4f, \"write\": %.4f, "
                 "\"processor\": %.4f}\n",
                 read - begun, built - read, computed - built, now() - computed, used);
    return good ? 0 : 1;
}
