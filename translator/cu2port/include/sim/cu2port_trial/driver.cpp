// The driver of a trial's program: it makes cases, runs them, keeps and compares what they left in memory.
//
//     PROGRAM record FOLDER SEED SECONDS BRANCHES FIRST LAST    run cases in both orders of threads, keep what they left
//     PROGRAM compare FOLDER SEED SECONDS CASE... [more CASE...]    run them again, compare with what was kept
//     PROGRAM writer FOLDER SEED SECONDS CASE ADDRESS SIZE      run one again, say which thread wrote there last
//     PROGRAM nudge FOLDER SEED SECONDS CASE...                 run them again with floats nudged, keep what they left
//
// Each case runs in a process of its own, but those after `more`, which more.inc is about. A line of standard output for
// each: `case N same`, `close` or `permuted`, `case N differs ...`, `case N rounding` where floats differ as far as nudges
// move them, or `case N failed WHY`; where accesses are watched `case N race`, `bounds`, `shift` and `wrote BYTES`, of
// dynamic shared memory, before it; `record` adds `case N new` to those of the same result that reached new branches, and
// `case N follows` to those that took parts from another one. `branches BITS` at the end: what the cases of the same
// result reached.
//
// All is derived from a seed and a case, which `record` keeps in a file, so that the programs of the CUDA kernel and of
// the converted one make the same arguments by themselves. Cases are made from a seed and a number; later ones take parts
// from earlier ones that reached new branches. Pointers point to areas of addresses without memory: each page is mapped and
// filled when it is first touched, so that an array is as long as the kernel wants it, up to `kLongest`.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "symbols.inc"
#include "trial.h"

namespace cu2port_trial {

#include "areas.inc"

unsigned size_near(Random& r, unsigned total) {
    switch (r.below(9)) {
        case 0: return total * (2 + r.below(4)) + 3;  // each thread has several, the last ones fewer
        case 5:
        case 6: return total / (4u << r.below(4)) - (total > 64 && r.below(2));  // some threads have one together
        case 1: return total > 5 ? total - 5 : total;
        case 2: return total / 2 + 1;
        case 3: return total + 7;
        case 4: return total > 33 ? total - 33 : total;
        default: return total;
    }
}
constexpr std::size_t kMany = 8;         // parameters: several of them are extents of one array, whose product is its length
constexpr unsigned kMinusOne = ~0u;  // of a parameter with a sign; of others zero
unsigned number_for(Random& r, char role, unsigned n, const Case& c) {
    static const unsigned sizes[] = {64, 32, 128, 33, 16, 8, 96, 100, 256, 512, 1024, 40, 7, 3};
    if (c.small && role != 'n') {  // some go past a tile
        const unsigned kind = r.below(16);
        return kind > 3 ? 1 + r.below(8) : kind ? 9 + r.below(32) : 0;
    }
    if (r.below(8) == 0 && !told.empty()) return near_told(r.next());
    switch (role) {
        case 'n': return n;
        case 'w': return size_near(r, c.grid.x * c.block.x);
        case 'h': return size_near(r, c.grid.y * c.block.y);
        case 'd': return size_near(r, c.grid.z * c.block.z);
        case 's': return (c.grid.x * c.block.x << (r.below(2) ? r.below(5) : 0)) + r.below(2) * 8;  // a thread may have several
        case 'k': return r.below(8) == 0 ? 0 : r.below(4) == 0 ? 17 + r.below(24) : 1 + r.below(9);  // some go past a tile
        default: break;
    }
    switch (r.below(9)) {
        case 0: return 0;
        case 1: return 1;
        case 2: return n;
        case 8: return kMinusOne;
        case 3: return 1 + r.below(8);
        case 4: return r.below(40);
        default: return sizes[r.below(14)];
    }
}
// A launch that goes past a number in the kernel's text along one axis.
void grow(Case& c, const Spec& spec, Random& r) {
    const unsigned axis = r.below(4), end = near_told(r.next());  // the last means: along all
    const auto blocks = [&](unsigned i, unsigned extent) {
        return spec.axes >> i & 1 && (axis == i || axis == 3) ? end / extent + 1 : 1ul;
    };
    const unsigned long x = blocks(0, c.block.x), y = blocks(1, c.block.y), z = blocks(2, c.block.z);
    if (x > kMostThreads || y > kMostThreads || z > kMostThreads || x * y * z * c.block.x * c.block.y * c.block.z > kMostThreads) return;
    c.grid = dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
}
// How far apart rows or segments begin that follow each other: often little, else more than a warp has lanes, or as the text tells.
unsigned step_for(std::uint64_t r) {
    static const unsigned steps[] = {3, 3, 3, 3, 1, 20, 70};
    return r % 8 < 7 ? steps[r % 8] : std::max(1u, std::min(near_told(r >> 8), 600u));
}
Case make_case(const Spec& spec, std::uint64_t seed, unsigned number, std::size_t parameters, unsigned blocks = 4) {
    Random r{mix(seed * 1000003 + number)};
    Case c;
    c.seed = r.next();
    c.block = spec.blocks[number % spec.blocks.size()];
    const unsigned most = number < 4 ? 1 : blocks;
    c.grid = dim3(1 + r.below(most), spec.axes & 2 ? 1 + r.below(most < 3 ? most : 3) : 1, spec.axes & 4 ? 1 + r.below(most < 2 ? most : 2) : 1);
    if (number % 4 == 3 && number > 8 && !told.empty()) grow(c, spec, r);
    c.dynamic = spec.dynamic;
    const unsigned total = c.grid.x * c.block.x * (spec.axes & 2 ? c.grid.y * c.block.y : 1) * (spec.axes & 4 ? c.grid.z * c.block.z : 1);
    const unsigned n = r.chance(10) ? r.below(4) : size_near(r, total);
    const bool plain = number % 3 == 0, all_bits = number % 6 == 5;
    c.small = parameters >= kMany && number % 2;
    if (number % 5 == 4 && number > 12 && parameters) c.nulls = std::uint64_t{1} << r.below(static_cast<unsigned>(parameters < 64 ? parameters : 64));
    c.shares = r.below(2) != 0;
    const bool as_launched = r.chance(40), alike = !plain && r.chance(40);
    const unsigned step = step_for(mix(c.seed + 17));
    for (std::size_t i = 0; i < parameters; ++i) {
        c.numbers.push_back(number_for(r, spec.roles[i], r.chance(85) ? n : size_near(r, total), c));
        if (i < spec.given.size() && !spec.given[i].empty() && as_launched) c.numbers.back() = spec.given[i][r.below(static_cast<unsigned>(spec.given[i].size()))];
        static const Ints ints[] = {Ints::small, Ints::index, Ints::rising, Ints::bits, Ints::any, Ints::zero, Ints::told, Ints::index, Ints::fields};
        static const Reals reals[] = {Reals::whole, Reals::unit, Reals::positive, Reals::unit, Reals::wide, Reals::few_bits};
        const Ints bits = r.below(2) ? Ints::any : Ints::fields;
        Style s{plain ? Ints::index : all_bits ? bits : ints[r.below(9)], plain ? Reals::whole : reals[r.below(6)], n ? n : 1};
        if (alike && r.chance(60)) s.rare = 2u << r.below(5);
        s.step = step;
        if (spec.roles[i] == 'o' || spec.roles[i] == 'e') s.ints = Ints::rising, s.first = spec.roles[i] == 'e';
        c.styles.push_back(s);
        c.seeds.push_back(r.next());
    }
    return c;
}

// A case that went where none had been, with some parts of a new one.
Case crossed(Case c, const Case& fresh, std::uint64_t seed) {
    Random r{mix(seed)};
    const unsigned percent = 10 + 20 * r.below(3);
    if (r.chance(percent)) c.grid = fresh.grid, c.block = fresh.block;
    if (r.chance(percent)) c.seed = fresh.seed;
    if (r.chance(percent)) c.nulls = fresh.nulls;
    if (r.chance(percent)) c.shares = fresh.shares;
    for (std::size_t i = 0; i < c.numbers.size(); ++i) {
        if (r.chance(percent)) c.numbers[i] = fresh.numbers[i];
        if (r.chance(percent)) c.styles[i] = fresh.styles[i];
        if (r.chance(percent)) c.seeds[i] = fresh.seeds[i];
    }
    return c;
}

// A case with parts of one of those that went where none had been, of the last one more often.
Case followed(const std::vector<Case>& good, const Case& fresh, std::uint64_t number) {
    const std::uint64_t r = mix(number);
    return crossed(good[r % 2 ? good.size() - 1 : (r >> 8) % good.size()], fresh, r);
}

std::string file_of(const std::string& folder, unsigned number, const char* kind) {
    return folder + "/" + std::to_string(number) + "." + kind;
}
void write_case(std::FILE* f, const Case& c) {
    const std::uint64_t fixed[] = {c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.dynamic, c.seed, c.nulls, c.shares + 2ul * c.small};
    std::fwrite(fixed, sizeof fixed, 1, f);
    for (std::size_t i = 0; i < c.numbers.size(); ++i) {
        std::fwrite(&c.numbers[i], sizeof c.numbers[i], 1, f);
        std::fwrite(&c.styles[i], sizeof c.styles[i], 1, f);
        std::fwrite(&c.seeds[i], sizeof c.seeds[i], 1, f);
    }
}
Case read_case(std::FILE* f, std::size_t parameters) {
    Case c;
    std::uint64_t fixed[10];
    bool good = f != nullptr && std::fread(fixed, sizeof fixed, 1, f) == 1;
    for (std::size_t i = 0; good && i < parameters; ++i) {
        unsigned number;
        Style style;
        std::uint64_t seed;
        good = std::fread(&number, sizeof number, 1, f) == 1 && std::fread(&style, sizeof style, 1, f) == 1 && std::fread(&seed, sizeof seed, 1, f) == 1;
        c.numbers.push_back(number), c.styles.push_back(style), c.seeds.push_back(seed);
    }
    if (!good) _exit(kTooMuch);
    const auto of = [&](int i) { return static_cast<unsigned>(fixed[i]); };
    c.grid = dim3(of(0), of(1), of(2)), c.block = dim3(of(3), of(4), of(5));
    c.dynamic = fixed[6], c.seed = fixed[7], c.nulls = fixed[8], c.shares = fixed[9] & 1, c.small = fixed[9] & 2;
    return c;
}
// A file that is written by `write`.
template <class F>
void keep_in(const std::string& path, F write) {
    std::FILE* f = std::fopen(path.c_str(), "wb");
    if (f == nullptr) _exit(kTooMuch);
    write(f);
    std::fclose(f);
}
Case kept_case(const std::string& path, std::size_t parameters) {
    std::FILE* f = std::fopen(path.c_str(), "rb");
    const Case c = read_case(f, parameters);
    std::fclose(f);
    return c;
}

std::string unfit(const Layout& l, int depth = 0) {
    if (*l.unfit || depth > 3) return l.unfit;
    if (!l.copied && depth == 0) return "a class that cannot be copied as bytes";
    for (const Scalar& s : l.scalars)
        if (s.inner) {
            const std::string why = unfit(*s.inner(), depth + 1);
            if (!why.empty()) return why;
        }
    return "";
}
void fill_argument(char* raw, const Layout& layout, bool is_integer, bool is_class, const Case& c, const Spec& spec, std::size_t i) {
    static std::uintptr_t arrays[64];
    const std::uint64_t seed = mix(c.seeds[i]);
    if (layout.make) return layout.make(raw, seed);
    if (is_integer) {
        const bool minus = c.numbers[i] == kMinusOne;
        const std::uint64_t v = !minus ? c.numbers[i] : layout.scalars[0].is_signed ? ~std::uint64_t{0} : 0;
        std::memcpy(raw, &v, layout.size);
        return;
    }
    Style style = c.styles[i];
    style.reals = style.reals == Reals::wide ? Reals::unit : style.reals;
    style.ints = Ints::small;
    const Area mine{&layout, seed, style, 0, 0};
    unsigned inner = 0;
    std::map<const Layout* (*)(), std::vector<int>> areas;  // by what they hold
    for (std::size_t f = 0; f < layout.scalars.size(); ++f) {
        const Scalar& s = layout.scalars[f];
        if (s.kind == Field::pointer) {
            const std::size_t first = i < spec.alike.size() ? spec.alike[i] : i;
            if (c.shares && !is_class && first < i && i < 64 && arrays[first]) {
                std::memcpy(raw + s.offset, &arrays[first], sizeof arrays[first]);
                continue;
            }
            const bool none = !s.inner || (!is_class && c.nulls >> (i % 64) & 1);
            std::vector<int>& alike = areas[s.inner];
            std::size_t which = f % kMostAlike;
            if (!none && alike.size() < kMostAlike) {
                which = alike.size();
                alike.push_back(reserve_areas(1));
                set_area(alike.back(), *s.inner(), c.styles[i], mix(seed + ++inner), static_cast<int>(i));
            }
            const std::uintptr_t p = none ? 0 : start_of(alike[which]);
            std::memcpy(raw + s.offset, &p, sizeof p);
            if (!is_class && i < 64) arrays[i] = p;
        } else if (is_class && s.kind == Field::whole && s.size >= 4) {
            const std::uint64_t r = mix(seed + f * 0x9e3779b97f4a7c15u), choices[] = {c.numbers[i], c.styles[i].limit, r >> 8 & 1, r % 7, 8 + r % 33};
            const std::uint64_t v = c.small && (r >> 20) % 8 ? 1 + r % 8 : choices[(r >> 16) % 5];
            std::memcpy(raw + s.offset, &v, s.size);
        } else {
            put_scalar(raw + s.offset, s, mine, 0, f);
        }
    }
}

constexpr std::uint32_t kGlobal = 0x80000000u;
using Key = std::pair<std::uint32_t, std::uint32_t>;
using Pages = std::map<Key, std::vector<char>>;

struct Memory {
    List<Global> globals;
    std::vector<std::vector<char>> first;  // what was in the globals

    void begin(const Case& c) {
        for (std::size_t g = 0; g < globals.size(); ++g) {
            const Global& it = globals[g];
            if (it.filled && *it.layout->unfit == 0) {
                const Area a{it.layout, mix(c.seed + 1000 + g), {Ints::small, Reals::whole, 17}, 0, 0};
                std::vector<std::pair<const Layout*, int>> arrays;  // that its pointers point to
                for (std::size_t e = 0; e < it.size / it.layout->size; ++e)
                    if (it.layout->make)
                        it.layout->make(it.at + e * it.layout->size, mix(a.seed + e));
                    else for (std::size_t f = 0; f < it.layout->scalars.size(); ++f) {
                        const Scalar& s = it.layout->scalars[f];
                        char* to = it.at + e * it.layout->size + s.offset;
                        if (s.kind == Field::pointer && s.inner) point_to_array(to, *s.inner(), a, arrays);
                        else put_scalar(to, s, a, e, f);
                    }
            }
            first.emplace_back(it.at, it.at + it.size);
        }
    }
    // A pointer in a variable gets an array of its own; behind the first few of a variable, one that another has.
    static void point_to_array(char* to, const Layout& inner, const Area& a, std::vector<std::pair<const Layout*, int>>& arrays) {
        int area = -1;
        for (const auto& [layout, known] : arrays)
            if (arrays.size() >= kMostAlike && layout == &inner) area = known;
        if (area < 0) {
            area = reserve_areas(1);
            set_area(area, inner, a.style, mix(a.seed + arrays.size() + 1), kVariable);
            arrays.emplace_back(&inner, area);
        }
        const std::uintptr_t p = start_of(area);
        std::memcpy(to, &p, sizeof p);
    }
    std::vector<char> before(const Key& k) const {
        std::vector<char> out(kPage);
        if (k.first & kGlobal) {
            const std::vector<char>& all = first[k.first & ~kGlobal];
            const std::size_t from = k.second * kPage;
            std::memcpy(out.data(), all.data() + from, std::min(kPage, all.size() - from));
        } else {
            fill_page(out.data(), world.areas[k.first], k.second);
        }
        return out;
    }
    // The pages that changed.
    Pages after() const {
        Pages out;
        for (unsigned i = 0; i < world.touched; ++i) {
            const Key k{world.pages[i][0], world.pages[i][1]};
            const char* at = reinterpret_cast<const char*>(start_of(static_cast<int>(k.first)) + k.second * kPage);
            if (std::memcmp(at, first_bytes(i), kPage) != 0) out[k].assign(at, at + kPage);
        }
        for (std::size_t g = 0; g < globals.size(); ++g)
            for (std::size_t from = 0; from < globals[g].size; from += kPage) {
                const std::size_t n = std::min(kPage, globals[g].size - from);
                if (std::memcmp(globals[g].at + from, first[g].data() + from, n) == 0) continue;
                std::vector<char>& page = out[{kGlobal | static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(from / kPage)}];
                page.resize(kPage);
                std::memcpy(page.data(), globals[g].at + from, n);
            }
        return out;
    }
};

void write_pages(std::FILE* f, const Pages& pages) {
    for (const auto& [k, page] : pages) std::fwrite(&k, sizeof k, 1, f), std::fwrite(page.data(), kPage, 1, f);
}
Pages read_pages(std::FILE* f, std::size_t most) {
    Pages out;
    Key k;
    std::vector<char> page(kPage);
    while (out.size() < most && std::fread(&k, sizeof k, 1, f) == 1 && std::fread(page.data(), kPage, 1, f) == 1) out[k] = page;
    return out;
}
Pages kept(const std::string& path) {
    std::FILE* f = std::fopen(path.c_str(), "rb");
    if (f == nullptr) return {};
    const Pages out = read_pages(f, ~std::size_t{0});
    std::fclose(f);
    return out;
}

#include "comparing.inc"
#ifndef CU2PORT_TRIAL_GPU
#include "questions.inc"
#endif

// --- runs --------------------------------------------------------------------------------------------------------

void limit_time(double seconds) {
    itimerval t{};
    t.it_value.tv_sec = static_cast<long>(seconds);
    t.it_value.tv_usec = static_cast<long>((seconds - static_cast<double>(t.it_value.tv_sec)) * 1e6);
    setitimer(ITIMER_PROF, &t, nullptr);
}

// The branches of one case or of several, each taken or not; `counts`: bits for 2, 8, 32, ... times true for each thread.
struct Reached {
    unsigned char branches[kBranches], counts[kBranches];
    std::uint32_t nearest[kBranches][2];  // as in branch.h

    void clear() {
        std::memset(branches, 4, kBranches), std::memset(counts, 0, kBranches), std::memset(nearest, 0, sizeof nearest);
        for (const std::uint32_t* n = __start_cu2port_branches; n != __stop_cu2port_branches; ++n) branches[*n] = 0;
    }
    void add(unsigned threads) {
        for (unsigned i = 0; i < kBranches; ++i) {
            branches[i] |= cu2port_trial::branches[i];
            for (unsigned k = 0, times = 2; k < 8 && cu2port_trial::counts[i] / threads >= times; ++k, times *= 4) counts[i] |= 1u << k;
            for (int way : {0, 1}) nearest[i][way] = std::max(nearest[i][way], cu2port_trial::nearest[i][way]);
        }
    }
    void add(const Reached& other) {
        for (unsigned i = 0; i < kBranches; ++i) {
            branches[i] |= other.branches[i], counts[i] |= other.counts[i];
            for (int way : {0, 1}) nearest[i][way] = std::max(nearest[i][way], other.nearest[i][way]);
        }
    }
    // By how much a comparison was short of a way.
    unsigned gap(unsigned i, int way) const { return std::max(1u, ~nearest[i][!way]); }
    int levels(unsigned count) const {
        int done = 0;
        for (unsigned i = 0; i < count; ++i) done += __builtin_popcount(counts[i]);
        return done;
    }
    int covered(unsigned count, int& of) const {
        int done = 0;
        of = 0;
        for (unsigned i = 0; i < count; ++i)
            if (branches[i] != 4) of += 2, done += (branches[i] & 1) + (branches[i] >> 1 & 1);
        return done;
    }
};
struct Outcome {
    Reached reached;
    bool agrees, permuted;  // with what was recorded

    void clear() { reached.clear(), agrees = permuted = false; }
};
Outcome* this_case = nullptr;  // of the one that runs, shared with its process
bool recording = false;        // launches of CUDA's kernel; else they are compared with what was recorded

// In a process that runs cases: takes faults where arrays are.
void begin_process() {
    begin_runs(reinterpret_cast<void*>(kBase), reinterpret_cast<void*>(start_of(kAreas)));
    struct sigaction fault {};
    fault.sa_sigaction = on_fault;
    fault.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &fault, &before_us);
    if (watch.at) {
        struct sigaction trap = fault;
        trap.sa_sigaction = on_step;
        sigaction(SIGTRAP, &trap, nullptr);
    }
}
// Whether the kernel has a block for that one of CUDA's: the converted kernel may want another.
bool has_block(const Spec& spec, const Case& c) {
    if (!spec.block) return true;
    const dim3 b = spec.block(c.block);
    return b.x * b.y * b.z != 0 && b.x * b.y * b.z <= 1024;
}
// Launches the kernel; the error.
int launch(const Kernel& kernel, const Spec& spec, Memory& memory, const Case& c) {
    begin_objects(c.seed);
    memory.begin(c);
    return kernel.run(kernel.kernel, spec, c);
}

std::string nudged_file(const std::string& folder, unsigned number, unsigned which) {
    return file_of(folder, number, "nudged") + std::to_string(which);
}
// What nudges of a launch left, as far as it was run with such.
Nudged nudged_pages(const std::string& folder, unsigned number) {
    Nudged out;
    for (unsigned k = 1; k <= kNudges; ++k)
        if (Pages its = kept(nudged_file(folder, number, k)); !its.empty()) out.push_back(std::move(its));
    return out;
}

// In the process of one case: runs it and says how it went, on descriptor `say`.
[[noreturn]] void run_case(const Kernel& kernel, const Spec& spec, Memory memory, const std::string& folder, const Case& c, unsigned number,
                           bool record, int say) {
    begin_process();
    if (!has_block(spec, c)) _exit(0);
    const int error = launch(kernel, spec, memory, c);
    if (error != 0) {
        dprintf(say, "case %u failed launch error %d\n", number, error);
        _exit(0);
    }
    if (watch.at) {
        const dim3 t = watch.place.thread, b = watch.place.block;
        if (watch.found) dprintf(say, "writer\t(%u,%u,%u)\t(%u,%u,%u)\t%u\n", b.x, b.y, b.z, t.x, t.y, t.z, (t.z * c.block.y + t.y) * c.block.x + t.x);
        _exit(0);
    }
    if (const std::size_t bytes = recording ? 0 : dynamic_written()) dprintf(say, "case %u wrote\t%zu\n", number, bytes);
    const Pages pages = memory.after();
    if (recording && pages.empty()) dprintf(say, "case %u nothing\n", number);
    if (nudge) {
        keep_in(nudged_file(folder, number, nudge), [&](std::FILE* f) { write_pages(f, pages); });
        _exit(0);
    }
    const unsigned threads = c.grid.x * c.grid.y * c.grid.z * c.block.x * c.block.y * c.block.z;
    if (record) {
        this_case->reached.add(threads);
        keep_in(file_of(folder, number, "pages"), [&](std::FILE* f) { write_pages(f, pages); });
        keep_in(file_of(folder, number, "case"), [&](std::FILE* f) { write_case(f, c); });
        _exit(0);
    }
    Loose loose = recording ? Loose{true, {}} : Loose::of(file_of(folder, number, "loose"));
    const Difference d = compare(memory, spec, kept(file_of(folder, number, "pages")), pages, loose, nudged_pages(folder, number));
    if (recording && !d.count) loose.keep(file_of(folder, number, "loose"));
    if (d.count)
        dprintf(say, "case %u differs\t%u\t(%u,%u,%u)\t(%u,%u,%u)\t%lu\t%s\t%zu\t%zu\t%d\n", number, threads, c.grid.x, c.grid.y, c.grid.z, c.block.x,
                c.block.y, c.block.z, d.count, d.first.c_str(), d.at, d.size, d.count == d.reals);
    else if (d.rounding)
        dprintf(say, "case %u rounding\n", number);
    else
        this_case->reached.add(threads), this_case->agrees = true, this_case->permuted = d.permuted, dprintf(say, "case %u %s\n", number, d.permuted ? "permuted" : d.close ? "close" : "same");
    _exit(0);
}

// Of all cases so far; time of the processor, so that a busy machine changes nothing.
double used_seconds() {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

#include "more.inc"
#include "search.inc"

// Says the first race between threads of a case, whether it left shared memory, and a shift by more bits than a value
// has, which the runtime wrote where errors go: `KIND|AT|OTHER|TEXT`.
void say_checks(unsigned number, const std::string& errors) {
    std::FILE* f = std::fopen(errors.c_str(), "rb");
    if (f == nullptr) return;
    char line[1024], kind[32], text[900];
    unsigned at, other;
    bool races = false, leaves = false, shifts = false;
    while (std::fgets(line, sizeof line, f)) {
        if (std::sscanf(line, "cu2port-check|%31[^|]|%x|%x|%899[^\n]", kind, &at, &other, text) != 4) continue;
        const std::string what = kind;
        if (!races && (what == "race" || what == "lockstep")) races = true, std::printf("case %u race\t%s\t%x\t%x\n", number, text, at, other);
        if (!leaves && what == "bounds") leaves = true, std::printf("case %u bounds\t%s\n", number, text);
        if (!shifts && what == "shift") shifts = true, std::printf("case %u shift\t%s\n", number, text);
    }
    std::fclose(f);
}

// Waits for a case's process; whether it said itself how it went.
bool await(pid_t child, unsigned number, const std::string& errors) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    say_checks(number, errors);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    std::string why;
    if (std::FILE* f = std::fopen(errors.c_str(), "rb")) {
        char line[512];
        while (why.size() < sizeof line && std::fgets(line, sizeof line, f))
            if (std::strncmp(line, "cu2port-check|", 14) != 0) why += line;
        std::fclose(f);
        for (char& x : why)
            if (x == '\n') x = ' ';
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) why = "time limit";
    if (WIFEXITED(status) && WEXITSTATUS(status) == kOutside) why = "an index far outside of an array";
    if (WIFEXITED(status) && WEXITSTATUS(status) == kTooMuch) why = "too much memory";
    if (why.empty()) why = "status " + std::to_string(status);
    std::printf("case %u failed\t%s\n", number, why.c_str());
    return false;
}

// Cases in processes of their own.
struct Runs {
    const Kernel& kernel;
    const Spec& spec;
    const List<Global> globals;
    const std::string folder, errors;

    // Whether a case's process came to its end. Says how it went, where that is not to be recorded.
    bool run(const Case& c, unsigned number, bool record, double seconds, bool backward = false) const {
        std::fflush(stdout);
        const int say = dup(1);
        const pid_t child = fork();
        if (child == 0) {
            const int nothing = open("/dev/null", O_WRONLY), err = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(nothing, 1), dup2(err, 2);
            if (backward) setenv("CU2PORT_SIM_CHECK", "1", 1), setenv("CU2PORT_SIM_BACKWARD", "1", 1);
            limit_time(seconds);
            run_case(kernel, spec, Memory{globals, {}}, folder, c, number, record, say);
        }
        close(say);
        return child >= 0 && await(child, number, errors);
    }
    // The same launch where one array of integers has none twice: threads that each have an index touch elements of their own.
    std::vector<Case> with_distinct(const Case& c) const {
        std::vector<Case> out;
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
            const Layout* inner = kernel.parameters[i]->inner();
            if (c.styles[i].distinct || inner == nullptr || std::none_of(inner->scalars.begin(), inner->scalars.end(), [](const Scalar& s) { return s.kind == Field::whole && s.size > 1; })) continue;
            out.push_back(c);
            out.back().styles[i].distinct = true, out.back().styles[i].rare = 0;
        }
        return out;
    }
    // Makes cases and keeps those whose result does not depend on the order of threads: later ones take parts from these.
    void record(Reached& all, std::uint64_t seed, double seconds, unsigned count, unsigned first, unsigned last) const {
        const std::size_t parameters = kernel.parameters.size();
        int ran = 0, steady = 0, idle = 0, best = 0, of = 0, most = 0;
        bool permuted = false;
        std::size_t again = kAgain;
        std::vector<std::size_t> cures;  // parameters: with distinct integers there, a result did not depend on the order
        std::vector<Case> next;  // launches that went where none had been, but whose result depends on the order
        std::vector<Case> found;  // by a search
        int searches = 0;
        std::vector<Case> good;  // each but the first reached new branches, or went one way more often
        unsigned number = first;
        for (; number < last && used_seconds() <= 2 * seconds && idle < kIdle; ++number) {
            if (found.empty() && best < of && idle >= kIdle / 3 && !good.empty() && searches < kSearches) {
                found = search(kernel, spec, globals, folder, all, good, seed + static_cast<unsigned>(searches), seconds, count);
                searches = found.empty() ? kSearches : searches + 1;
            }
            Case c = make_case(spec, seed, number, parameters);
            const bool is_found = !found.empty(), repeats = !is_found && !next.empty(), follows = is_found || repeats || (number >= kFew && number % 3 && !good.empty());
            for (const std::size_t i : cures)
                if (number % 4 && !is_found) c.styles[i].distinct = true, c.styles[i].rare = 0;
            if (is_found) c = found.front(), found.erase(found.begin());
            else if (repeats) c = next.back(), next.pop_back();
            else if (follows) c = followed(good, c, seed * 31 + number);
            this_case->clear();
            if (!run(c, number, true, seconds / (ran ? 25 : 8))) continue;  // those that take too long must not take all
            ++ran, ++idle;
            if (follows) std::printf("case %u follows\n", number);
            Reached both = all;
            both.add(this_case->reached);
            const int now = both.covered(count, of), times = both.levels(count);
            const bool is_new = now > best || times > most;
            if (is_new || steady < kEnough) run(c, number, false, std::fmax(4, seconds / 25), true);
            if (this_case->agrees) {
                ++steady;
                permuted |= this_case->permuted;
                if (is_new || good.empty()) good.push_back(c);
                if (is_new) std::printf("case %u new\n", number);
                if (now > best) idle = 0;
                all = both, best = now, most = times;
                if (repeats && is_new) next.clear();
                for (std::size_t i = 0; repeats && is_new && i < parameters; ++i)
                    if (c.styles[i].distinct && std::find(cures.begin(), cures.end(), i) == cures.end()) cures.push_back(i);
            } else if (is_new && !repeats && again) {
                next = with_distinct(c);
                next.resize(std::min(next.size(), again));
                again -= next.size();
            }
            const bool slow = used_seconds() > 2 * seconds / 5;
            if (best == of && steady >= (slow ? kFew : kEnough)) break;
        }
        if (4 * steady >= 3 * ran && steady >= kFew && !permuted) record_more(good, seed, seconds, number + 1, std::min(kMost, 4 * (last - first)));
    }
    // More of them, whose result seldom depends on the order of threads as far as the first ones tell.
    void record_more(const std::vector<Case>& good, std::uint64_t seed, double seconds, unsigned first, unsigned count) const {
        const double part = more_seconds(seconds);
        const int file = open((folder + "/more").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        const Progress& done = run_many(count, part, part / 4, globals, errors, [&](unsigned i, Memory& memory) -> unsigned char {
            const unsigned number = first + i;
            Case c = make_case(spec, seed, number, kernel.parameters.size(), number % 4 ? 4 : kWide);
            if (number % 2) c = followed(good, c, seed * 31 + number);
            if (launch(kernel, spec, memory, c) != 0) _exit(0);
            limit_time(0);
            append(file, number, c, memory.after());
            return kWell;
        });
        close(file);
        for (unsigned i = 0; i < count; ++i)
            if (done.word[i] == kWell) std::printf("case %u more\n", first + i);
    }
    // These again, compared with what was kept: one that differs or does not end is run by itself.
    void compare_more(const std::vector<unsigned>& numbers, double seconds) const {
        Many many(folder + "/more", kernel.parameters.size());
        const double part = more_seconds(seconds);
        const unsigned count = std::min(kMost, static_cast<unsigned>(numbers.size()));
        const Progress& done = run_many(count, 2 * part, part, globals, errors, [&](unsigned i, Memory& memory) -> unsigned char {
            const auto& [c, pages] = many.get(numbers[i]);
            if (!has_block(spec, c)) return kSkipped;
            if (launch(kernel, spec, memory, c) != 0) _exit(0);
            Loose loose{false, {}};
            return compare(memory, spec, pages, memory.after(), loose).count ? kOther : kWell;
        });
        int left = kMostAgain;
        for (unsigned i = 0; i < count; ++i) {
            if (done.word[i] == kWell) std::printf("case %u alike\n", numbers[i]);
            if ((done.word[i] != kOther && done.word[i] != kBegun) || left-- <= 0) continue;
            const auto& [c, pages] = many.get(numbers[i]);
            keep_in(file_of(folder, numbers[i], "pages"), [&, &p = pages](std::FILE* f) { write_pages(f, p); });
            keep_in(file_of(folder, numbers[i], "case"), [&, &k = c](std::FILE* f) { write_case(f, k); });
            run(c, numbers[i], false, std::fmax(4, seconds / 25));
        }
    }
};

int drive(int argc, char** argv, const Spec& spec, const Kernel& kernel, List<Global> globals) {
    for (const Layout* l : kernel.parameters)
        if (const std::string why = unfit(*l); !why.empty()) {
            std::printf("unfit\t%s\n", why.c_str());
            return 0;
        }
    if (argc < 6) return 2;
    told.assign(spec.told.begin(), spec.told.end());
    recording = std::string(argv[1]) == "record";
    const std::string folder = argv[2], errors = folder + "/errors";
    const std::uint64_t seed = std::strtoull(argv[3], nullptr, 10);
    const double seconds = std::atof(argv[4]);
    std::vector<unsigned> cases, more;
    bool beyond = false;
    if (std::string(argv[1]) == "writer") {
        if (argc < 8 || !kSteps) return 0;
        watch.at = std::strtoull(argv[6], nullptr, 10), watch.size = std::strtoull(argv[7], nullptr, 10);
        if (watch.size > sizeof watch.before) return 0;
        cases.push_back(static_cast<unsigned>(std::atoi(argv[5])));
    } else if (!recording)
        for (int i = 5; i < argc; ++i) {
            std::vector<unsigned>& of = beyond ? more : cases;
            if (std::strcmp(argv[i], "more") == 0) beyond = true;
            else of.push_back(static_cast<unsigned>(std::atoi(argv[i])));
        }
    this_case = static_cast<Outcome*>(mmap(nullptr, sizeof *this_case, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::vector<std::pair<const char*, std::size_t>> known = own_variables();
    for (const Global& g : globals) known.emplace_back(g.at, g.size);
    watch_variables(known);
    const Runs runs{kernel, spec, globals, folder, errors};
    Reached all;
    all.clear();
    if (recording) runs.record(all, seed, seconds, static_cast<unsigned>(std::atoi(argv[5])), static_cast<unsigned>(std::atoi(argv[6])), static_cast<unsigned>(std::atoi(argv[7])));
    for (unsigned number : cases) {
        if (used_seconds() > seconds) break;
        if (std::strcmp(argv[1], "nudge") == 0) {
            const Case c = kept_case(file_of(folder, number, "case"), kernel.parameters.size());
            for (nudge = 1; nudge <= kNudges; ++nudge) runs.run(c, number, false, std::fmax(4, seconds / 25));
            continue;
        }
        this_case->clear();
        runs.run(kept_case(file_of(folder, number, "case"), kernel.parameters.size()), number, false, std::fmax(4, seconds / 25));
        if (this_case->agrees) all.add(this_case->reached);
    }
    if (!more.empty()) runs.compare_more(more, seconds);
    std::printf("branches ");
    for (unsigned i = 0; i < kBranches; ++i) std::printf("%u", static_cast<unsigned>(all.branches[i]));
    std::printf("\n");
    return 0;
}

}  // namespace cu2port_trial
