"""Sources of Debian, by an apt-get with lists of packages that are its own: this machine's are not changed."""
import subprocess
import sys

KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"


def mirror(archive):
    """The address from which this machine takes its packages of an archive of Debian."""
    sites = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"], check=True, capture_output=True, text=True).stdout.split()
    for site in sorted(set(sites)):
        if site.rstrip("/").rsplit("/", 1)[-1] == archive:
            return site
    sys.exit(f"run: apt has no source of {archive}")


def fetched(folder, suite, words, kind="deb"):
    """Run apt-get with `words` in `folder`, on lists of a suite's packages, or of its sources with `kind` deb-src."""
    state = folder / "apt"
    (state / "lists" / "partial").mkdir(parents=True)
    (state / "cache" / "archives" / "partial").mkdir(parents=True)
    archive = "debian-security" if suite.endswith("security") else "debian"
    (state / "sources.list").write_text(f"{kind} [signed-by={KEY}] {mirror(archive)} {suite} main\n")
    (state / "status").touch()
    options = [f"Dir::State={state}", f"Dir::State::status={state}/status", f"Dir::Cache={state}/cache"]
    options += [f"Dir::Etc::SourceList={state}/sources.list", "Dir::Etc::SourceParts=-", "APT::Sandbox::User="]
    apt = ["apt-get", "-q", *(word for option in options for word in ("-o", option))]
    subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*apt, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
