"""Tries what a contained program must not be able to do, and tells in its answer what it got."""
import ctypes, glob, json, os, platform, socket, subprocess, sys, time

orders = json.loads(sys.argv[1])
got = []


def note(what, value):
    got.append(f"{what}: {value}")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return None


# Paths that exist on the host: the suite, its references, the runs, the caches, homes.
for path in orders["paths"]:
    if os.path.isdir(path):
        if os.listdir(path):
            note("listed", path)
    elif read(path):
        note("read", path)

# Every file that is there, for the secrets: the reference's, and a key of the environment.
seen = 0
for root, folders, files in os.walk("/") if orders["walk"] else []:
    folders[:] = [f for f in folders if os.path.join(root, f) not in ("/usr", "/sys", "/proc/sys")]
    for name in files:
        path = os.path.join(root, name)
        if not os.path.isfile(path) or seen > 50000:
            continue
        seen += 1
        text = read(path) or ""
        for secret in orders["secrets"]:
            if secret in text and not path.startswith(("/proc/self", f"/proc/{os.getpid()}")):
                # Its own arguments hold the words that it looks for.
                if orders["mark"] not in text:
                    note("secret", path)

# Environments, its own and those of every process.
for path in ["/proc/self/environ", *glob.glob("/proc/[0-9]*/environ")]:
    for secret in orders["secrets"]:
        if secret in (read(path) or ""):
            note("environment", path)
for process in glob.glob("/proc/[0-9]*/cmdline"):
    # Whole words: a folder may have any name.
    if {"serve", "keeper"} & set((read(process) or "").split("\0")):
        note("process", read(process))

# The network: other ports of the loopback, addresses outside, names, abstract sockets.
for host, port in [("127.0.0.1", orders["port"]), ("::1", orders["port"]), ("169.254.169.254", 80),
                   ("1.1.1.1", 53), (orders["address"], orders["port"])]:
    try:
        socket.create_connection((host, port), 1).close()
        note("connected", f"{host}:{port}")
    except OSError:
        pass
try:
    note("resolved", socket.getaddrinfo("example.com", 80))
except OSError:
    pass
try:
    abstract = socket.socket(socket.AF_UNIX)
    abstract.connect("\0" + orders["abstract"])
    note("connected", "abstract socket")
except OSError:
    pass

# Sockets that no namespace walls in: between virtual machines and with their host.
try:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    note("made", "a socket between virtual machines")
except OSError:
    pass

# Keyrings belong to no namespace: what is left there, another attempt would find.
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}.get(platform.machine(), ())
if numbers:
    add, request, control = numbers
    if libc.syscall(add, b"user", b"wildgym-story", b"left", 4, -5) >= 0:
        note("left", "a key")
    if libc.syscall(control, 0, -3, 0) >= 0:
        note("found", "a keyring")
# A namespace of its own, in which it could mount memory without a limit.
if orders["closed"] and libc.unshare(0x10000000) == 0:
    note("made", "a user namespace")

# Writing where it was given nothing to write.
for path in ["/usr/bin/mine", "/etc/mine", __file__, "/run/wildgym/task.md", "/run/wildgym/mine"]:
    try:
        with open(path, "a") as file:
            file.write("#")
        note("wrote", path)
    except OSError:
        pass
# The gym's own program, with its suites inside, is not there.
for path in glob.glob("/run/wildgym/*") + glob.glob("/proc/[0-9]*/exe"):
    if "solution.toml" in (read(path) or ""):
        note("program", path)

# A child that leaves its session and means to live on.
subprocess.Popen([sys.executable, "-c", orders["daemon"], orders["mark"]], start_new_session=True,
                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if orders["stay"]:
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
with open(os.environ["WILDGYM_ANSWER_FILE"], "w") as answer:
    json.dump(got, answer)
