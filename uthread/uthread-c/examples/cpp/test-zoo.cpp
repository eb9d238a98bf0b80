// test-zoo ANIMALS: a monitor of Hoare. All animals come before the zoo opens, and a broadcast lets them in
// before any that come from outside; then they want into a room that holds ten. Who leaves it signals
// one that waits, which finds space without a second check.
#include "common.hpp"

namespace {
constexpr long ROOM = 10;

struct zoo {
    uthread::lock lock{UTHREAD_FIFO};
    uthread::condition opened, room;
    bool open = false;
    long waiting = 0, inside = 0, most = 0, visits = 0, late = 0;
    std::vector<long> order;

    void come(long animal) {
        uthread::guard<uthread::lock> guard(lock);
        if (!open) {
            waiting++;
            opened.wait(lock);
            waiting--;
        } else {
            late += waiting > 0;    // it came in before one that was here first
        }
        order.push_back(animal);
    }

    void enter() {
        uthread::guard<uthread::lock> guard(lock);
        if (inside == ROOM) room.wait(lock);
        if (inside >= ROOM) {
            std::fprintf(stderr, "let in without room\n");
            std::exit(1);
        }
        inside++;
        visits++;
        most = inside > most ? inside : most;
    }

    void leave() {
        uthread::guard<uthread::lock> guard(lock);
        inside--;
        room.signal(lock);
    }
};
}    // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s ANIMALS\n", argv[0]);
        return 2;
    }
    long animals = number(argv[1], "ANIMALS", 1, 10000);
    uthread::runtime runtime;
    zoo zoo;
    std::vector<uthread::thread> threads;
    auto visit = [&zoo](long animal) {
        zoo.come(animal);
        zoo.enter();
        for (int i = 0; i < 3; i++) uthread::yield();
        zoo.leave();
    };
    start(threads, animals, visit);
    uthread::yield();    // all of them come, and wait
    {
        uthread::guard<uthread::lock> guard(zoo.lock);
        std::printf("%ld animals wait for the zoo to open\n", zoo.waiting);
        zoo.open = true;
        zoo.opened.broadcast(zoo.lock);
        uthread::thread late([&] { visit(animals); });
        uthread::yield();    // it comes while the zoo still has the lock
        threads.push_back(std::move(late));
    }
    join(threads);
    bool ordered = true;
    for (size_t i = 0; i < zoo.order.size(); i++) ordered &= zoo.order[i] == static_cast<long>(i);
    std::printf("the animals came in %s, and the one from outside %s\n",
                ordered ? "in the order of their arrival" : "out of order",
                ordered && zoo.late == 0 ? "last" : "too early");
    std::printf("%ld were in the room, at most %ld at a time\n", zoo.visits, zoo.most);
    return ordered && zoo.late == 0 && zoo.visits == animals + 1 && zoo.inside == 0 ? 0 : 1;
}
