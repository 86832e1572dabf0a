// SPDX-License-Identifier: MIT
// Threads that meet: a queue with a mutex and condition variables, a barrier, a data race, a detached thread, signals to threads,
// a thread that ends by pthread_exit(). What the program prints depends on which thread came first.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Queue {
	std::mutex mutex;
	std::condition_variable some, room;
	std::deque<unsigned> items;
	bool closed = false;

	void put(unsigned item)
	{
		std::unique_lock<std::mutex> lock(mutex);
		room.wait(lock, [&] { return items.size() < 4; });
		items.push_back(item);
		some.notify_one();
	}

	bool get(unsigned &item)
	{
		std::unique_lock<std::mutex> lock(mutex);
		some.wait(lock, [&] { return closed || !items.empty(); });
		if (items.empty())
			return false;
		item = items.front();
		items.pop_front();
		room.notify_one();
		return true;
	}

	void close()
	{
		std::lock_guard<std::mutex> lock(mutex);
		closed = true;
		some.notify_all();
	}
};

Queue queue;
std::mutex printing;
volatile unsigned long racy;
volatile std::sig_atomic_t struck;
std::atomic<bool> detached_done;
pthread_barrier_t barrier;
std::atomic<unsigned> order;

void strike(int) { struck = struck + 1; }

void say(const std::string &text)
{
	std::lock_guard<std::mutex> lock(printing);
	std::fputs(text.c_str(), stdout);
}

void consume(int me)
{
	unsigned long sum = 0;
	unsigned item, got = 0;

	while (queue.get(item)) {
		sum = sum * 31 + item;
		got++;
		for (unsigned i = 0; i < 3000; i++)
			racy = racy + 1;
	}
	pthread_barrier_wait(&barrier);
	say("consumer " + std::to_string(me) + " came as " + std::to_string(order++) + ", took " + std::to_string(got) + ": " +
	    std::to_string(sum) + "\n");
	if (me == 1)
		pthread_exit(nullptr);
}

void race(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		racy = racy + 1;
}

}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300000;
	std::vector<std::thread> all;

	std::signal(SIGUSR1, strike);
	pthread_barrier_init(&barrier, nullptr, 3);
	for (int i = 0; i < 3; i++)
		all.emplace_back(consume, i);
	std::thread([] { say("detached\n"), detached_done = true; }).detach();
	for (unsigned i = 0; i < 60; i++) {
		queue.put(i);
		if (i % 20 == 0)
			pthread_kill(all[i / 20].native_handle(), SIGUSR1);
	}
	queue.close();
	for (auto &t : all)
		t.join();
	while (!detached_done)
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	std::thread a(race, n), b(race, n);
	a.join(), b.join();
	std::printf("struck %d times, %lu steps, %p\n", int(struck), static_cast<unsigned long>(racy), std::malloc(100));
	std::fflush(stdout);
	if (argc > 2 && !std::strcmp(argv[2], "leave"))
		std::thread([] { std::fputs("another one ends all\n", stderr), _exit(4); }).join();
	std::thread([] { for (;;) pause(); }).detach();
	return 3;
}
