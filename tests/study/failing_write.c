/* Preloaded: the k-th write to a file of the folder FAIL_IN finds the disk full (k: FAIL_AT; 0: none).
   At the end the number of such writes is told in the file FAIL_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long n_writes;

static int fails(int fd) {
  char link[64], path[4096];
  const char *folder = getenv("FAIL_IN"), *at = getenv("FAIL_AT");
  if (folder == NULL || at == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  if (strncmp(path, folder, strlen(folder)) != 0) return 0;
  if (atomic_fetch_add(&n_writes, 1) + 1 != atol(at)) return 0;
  errno = ENOSPC;
  return 1;
}

ssize_t write(int fd, const void* data, size_t n) {
  static ssize_t (*real)(int, const void*, size_t);
  if (real == NULL) real = (ssize_t (*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  return fails(fd) ? -1 : real(fd, data, n);
}

ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
  static ssize_t (*real)(int, const void*, size_t, off_t);
  if (real == NULL) real = (ssize_t (*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  return fails(fd) ? -1 : real(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void* data, size_t n, off64_t at) {
  static ssize_t (*real)(int, const void*, size_t, off64_t);
  if (real == NULL)
    real = (ssize_t (*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  return fails(fd) ? -1 : real(fd, data, n, at);
}

__attribute__((destructor)) static void tell(void) {
  const char* name = getenv("FAIL_COUNT");
  FILE* file = name == NULL ? NULL : fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", atomic_load(&n_writes));
  fclose(file);
}
