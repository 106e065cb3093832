/*
 * A peer to be measured against: Boost's Dijkstra on its compressed sparse rows, once per source,
 * the sources shared among the threads of the machine.
 *
 * boost_dijkstra IN OUT [EVERY] reads edge triples and writes the raw rows of every EVERY-th
 * source, of all by default. The times of the three parts go to standard error, and the processor
 * time of all threads for the second.
 */
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

namespace
{

constexpr std::int32_t kInfinite = 1073741823;
constexpr std::size_t kSourcesAtOnce = 16;

struct Arc {
    std::int32_t weight;
};
using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Arc>;

double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

bool read_graph(const char *path, Graph &graph, std::size_t &n)
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
    if (!good) {
        return false;
    }
    n = std::size_t(head[0]);
    std::vector<std::pair<std::int32_t, std::int32_t>> ends;
    std::vector<Arc> arcs;
    for (std::size_t i = 0; i < triples.size(); i += 3) {
        ends.emplace_back(triples[i], triples[i + 1]);
        arcs.push_back({triples[i + 2]});
    }
    graph = Graph(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), arcs.begin(), n);
    return true;
}

void search_all(const Graph &graph, std::size_t n, std::size_t every,
                std::vector<std::int32_t> &rows)
{
    std::atomic<std::size_t> next{0};
    const std::size_t sources = (n + every - 1) / every;
    auto work = [&] {
        for (std::size_t first; (first = next.fetch_add(kSourcesAtOnce)) < sources;) {
            for (std::size_t s = first; s < sources && s < first + kSourcesAtOnce; s++) {
                auto row = boost::make_iterator_property_map(
                    rows.begin() + std::ptrdiff_t(s * n), boost::get(boost::vertex_index, graph));
                boost::dijkstra_shortest_paths(graph, s * every,
                                               boost::weight_map(boost::get(&Arc::weight, graph))
                                                   .distance_map(row)
                                                   .distance_inf(kInfinite));
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
        std::fprintf(stderr, "usage: boost_dijkstra TRIPLES RAW [EVERY]\n");
        return 2;
    }
    Graph graph;
    std::size_t n = 0;
    double begun = now();
    if (!read_graph(argv[1], graph, n)) {
        std::fprintf(stderr, "boost_dijkstra: cannot read %s\n", argv[1]);
        return 2;
    }
    std::vector<std::int32_t> rows((n + std::size_t(every) - 1) / std::size_t(every) * n);
    double read = now();
    std::clock_t before = std::clock(); /* of all threads */
    search_all(graph, n, std::size_t(every), rows);
    double used = double(std::clock() - before) / CLOCKS_PER_SEC;
    double computed = now();
    std::FILE *file = std::fopen(argv[2], "wb");
    bool good = file != nullptr && std::fwrite(rows.data(), 4, rows.size(), file) == rows.size();
    good = file != nullptr && std::fclose(file) == 0 && good;
    std::fprintf(stderr,
                 "{\"read\": %.4f, \"compute\": %.4f, \"write\": %.4f, \"processor\": %.4f}\n",
                 read - begun, computed - read, now() - computed, used);
    return good ? 0 : 1;
}
