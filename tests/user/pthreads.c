/*
 * Threads as programs have them, by the C library: mutexes, condition variables, barriers, semaphores, read-write
 * locks, memory of their own, cancellation, robust mutexes. Each count is exact. Static, with `gcc -static -pthread`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS	500

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("failed: line %d: %s\n", __LINE__, #cond);                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static __thread int own;
static __thread char own_text[100] = "as it was";
static int count, turn, read_count;

static void start(pthread_t *threads, void *(*fn)(void *))
{
	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, fn, (void *)i));
}

static long join(pthread_t *threads)
{
	long sum = 0;
	void *result;

	for (int i = 0; i < THREADS; i++) {
		CHECK(!pthread_join(threads[i], &result));
		sum += (long)result;
	}
	return sum;
}

static void *count_locked(void *arg)
{
	CHECK(!strcmp(own_text, "as it was"));
	snprintf(own_text, sizeof(own_text), "of %ld", (long)arg);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		count++;
		own++;
		pthread_mutex_unlock(&lock);
	}
	pthread_barrier_wait(&barrier);
	CHECK(count == THREADS * ROUNDS && atol(own_text + 3) == (long)arg);
	return (void *)(long)own;
}

/* Each waits for its turn: the condition variable wakes all, and one goes on. */
static void *take_turns(void *arg)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		while (turn % THREADS != (int)(long)arg)
			pthread_cond_wait(&changed, &lock);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* Half of them give permits, half take them. */
static void *permits(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		CHECK(!((long)arg % 2 ? sem_post(&sem) : sem_wait(&sem)));
	return NULL;
}

static void *read_and_write(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		if ((i + (long)arg) % 5) {
			pthread_rwlock_rdlock(&rwlock);
			CHECK(read_count % 2 == 0);
		} else {
			pthread_rwlock_wrlock(&rwlock);
			read_count++;
			read_count++;
		}
		pthread_rwlock_unlock(&rwlock);
	}
	return NULL;
}

static void *allocate(void *arg)
{
	char *parts[50];

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 50; i++) {
			parts[i] = malloc(100 + i * 300);
			memset(parts[i], (int)(long)arg + i, 100 + i * 300);
		}
		for (int i = 0; i < 50; i++) {
			CHECK(parts[i][99] == (char)((long)arg + i));
			free(parts[i]);
		}
	}
	return NULL;
}

static int cleaned;

static void clean(void *arg)
{
	(void)arg;
	__atomic_add_fetch(&cleaned, 1, __ATOMIC_SEQ_CST);
}

static void *sleep_on(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	for (;;)
		sleep(1000);
	pthread_cleanup_pop(0);
	return arg;
}

static void cancel(void)
{
	pthread_t threads[THREADS];
	void *result;

	start(threads, sleep_on);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_cancel(threads[i]));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], &result) && result == PTHREAD_CANCELED);
	CHECK(cleaned == THREADS);
}

static pthread_mutex_t robust_lock;

static void *die_with_lock(void *arg)
{
	CHECK(!pthread_mutex_lock(&robust_lock));
	return arg;
}

static void robust(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust_lock, &attr);
	CHECK(!pthread_create(&thread, NULL, die_with_lock, NULL));
	CHECK(!pthread_join(thread, NULL));
	CHECK(pthread_mutex_lock(&robust_lock) == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(&robust_lock));
	CHECK(!pthread_mutex_unlock(&robust_lock));
}

/* A child of one of several threads is that thread alone. */
static void *fork_one(void *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(getpid() == gettid() ? 30 + (int)(long)arg : 1);
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 30 + (int)(long)arg);
	return NULL;
}

static void *time_out(void *arg)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 5000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return (void *)(long)(sem_timedwait(arg, &until) == -1 && errno == ETIMEDOUT);
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&sem, 0, 0);
	start(threads, count_locked);
	CHECK(join(threads) == THREADS * ROUNDS && !own);
	start(threads, take_turns);
	join(threads);
	CHECK(turn == THREADS * 20);
	start(threads, permits);
	join(threads);
	CHECK(sem_trywait(&sem) == -1);
	start(threads, read_and_write);
	join(threads);
	CHECK(read_count == THREADS * ROUNDS / 5 * 2);
	start(threads, allocate);
	join(threads);
	start(threads, fork_one);
	join(threads);
	CHECK(!pthread_create(&threads[0], NULL, time_out, &sem));
	CHECK(!pthread_join(threads[0], (void **)&threads[1]) && threads[1] == 1);
	cancel();
	robust();
	puts("threads are as they should be");
	return 0;
}
