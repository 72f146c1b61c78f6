import Foundation
import KafkaIO
import NewswireSettings
import PublisherService
import TestSupport
import Testing

private let canPack: Bool = {
    let script =
        "cd '\(repository.path)' && git rev-parse HEAD && test -e Package.resolved && dpkg-shlibdeps --version && strip --version"
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0 && getuid() == 0
}()

/// The files that `deploy/release` makes, from the program that was built beside the tests. Packages are installed in temporary
/// folders only.
@Suite(.enabled(if: canPack, "needs a Git repository, root, and the Debian packages binutils, dpkg-dev and git"))
struct ReleaseFilesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "release-\(UUID().uuidString)")
    private let version = ServiceVersion.text

    private func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// Runs commands in the test's folder and returns their output.
    @discardableResult
    private func shell(_ script: String) async throws -> String {
        let ended = try await Program.run(pasted: script, in: folder)
        try #require(ended.status == 0, "\(script): \(ended.output)\(ended.errors)")
        return ended.output
    }

    private func inFolder(_ test: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await test()
    }

    // MARK: The files

    @Test func `a release is complete, the same each time, and can be installed and removed`() async throws {
        try await inFolder {
            let release = repository.appending(path: "deploy/release").path
            let pack = "'\(release)' --draft"
            async let once = shell("\(pack) --binary '\(Program.url.path)' --output files")
            // No folder makes a difference. The sources of the packages, which have the licences, are beside the program.
            let build = Program.url.resolvingSymlinksInPath().deletingLastPathComponent().path
            async let again = shell(
                """
                mkdir --parents other/build/release other/temporary
                cp '\(build)/newswire' other/build/release && ln --symbolic '\(build)/../../checkouts' other
                TMPDIR=$PWD/other/temporary \(pack) --binary other/build/release/newswire --output other/files
                """)
            _ = try await (once, again)
            let architecture = try await shell("dpkg --print-architecture").trimmingCharacters(in: .newlines)
            let names = [
                "newswire-\(version)-linux-\(architecture).tar.gz", "newswire_\(version)_\(architecture).deb",
                "newswire-\(version).spdx.json", "NOTES.md", "Package.resolved", "SHA256SUMS",
            ]
            let found = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "files").path)
            #expect(Set(found) == Set(names))
            for name in names { try await shell("cmp files/\(name) other/files/\(name)") }
            let sums = try await shell("cd files && sha256sum --check --strict SHA256SUMS")
            #expect(sums.split(separator: "\n").count == names.count - 1)

            try await checkTarball(names[0])
            try await checkContents(of: names[1])
            try await checkDocument(tarball: names[0])
            try await installAndRemove(names[1])
        }
    }

    private func checkTarball(_ name: String) async throws {
        let top = String(name.dropLast(".tar.gz".count))
        try await shell("tar --extract --file files/\(name)")
        for file in ["LICENSE", "README.md", "newswire.service", "newswire.yaml", "schemas/news-event.schema.json"] {
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: "\(top)/\(file)").path), "\(file)")
        }
        let itself = try await Program.run(["--version"]).output
        #expect(try await shell("\(top)/newswire --version") == itself)
        // No debug information, which has the paths of the build.
        #expect(try await !shell("readelf --section-headers --wide \(top)/newswire").contains(".debug_"))
        let notes = try text("files/NOTES.md")
        #expect(notes.hasPrefix("# Newswire \(version)\n"))
        #expect(notes.contains("- librdkafka1 \(KafkaLibrary.version)"))
    }

    private func checkContents(of package: String) async throws {
        let entries = try await shell("dpkg-deb --contents files/\(package)").split(separator: "\n")
        #expect(entries.allSatisfy { $0.contains(" root/root ") })
        let field = { (name: String) in try await shell("dpkg-deb --field files/\(package) \(name)") }
        #expect(try await field("Version") == version + "\n")
        // The image must install what the package depends on. Its base has the others.
        let depends = try await field("Depends").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespacesAndNewlines).prefix { $0 != " " }
        }
        #expect(depends.contains("librdkafka1") && depends.contains("libjemalloc2"))
        let image = try String(contentsOf: repository.appending(path: "deploy/Dockerfile"), encoding: .utf8)
        let installed = Set(image.split { $0 == " " || $0 == "\n" } + ["libc6", "libgcc-s1", "libstdc++6", "passwd"])
        for package in depends { #expect(installed.contains(package), "deploy/Dockerfile does not install \(package)") }
    }

    // MARK: The bill of materials

    /// A document of SPDX 2.3, with the members that the standard requires and those that a reader needs.
    private struct Document: Decodable {
        struct Creation: Decodable {
            var created: String
            var creators: [String]
        }
        struct Package: Decodable {
            var SPDXID, name, versionInfo, downloadLocation, licenseDeclared: String
            var filesAnalyzed: Bool
        }
        struct Relationship: Decodable {
            var spdxElementId, relationshipType, relatedSpdxElement: String
            var comment: String?
        }
        var spdxVersion, dataLicense, SPDXID, name, documentNamespace: String
        var creationInfo: Creation
        var packages: [Package]
        var relationships: [Relationship]
    }

    private func checkDocument(tarball: String) async throws {
        let document = try JSONDecoder().decode(
            Document.self, from: Data(try text("files/newswire-\(version).spdx.json").utf8))
        #expect((document.spdxVersion, document.dataLicense) == ("SPDX-2.3", "CC0-1.0"))
        #expect(document.SPDXID == "SPDXRef-DOCUMENT")
        #expect(document.documentNamespace.hasPrefix("https://") && !document.creationInfo.creators.isEmpty)
        #expect(document.creationInfo.created.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        let ids = document.packages.map(\.SPDXID)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /SPDXRef-[A-Za-z0-9.-]+/) != nil })
        #expect(document.packages.allSatisfy { !$0.filesAnalyzed && !$0.versionInfo.isEmpty })
        for relationship in document.relationships {
            #expect((ids + [document.SPDXID]).contains(relationship.spdxElementId))
        }
        #expect(Set(document.relationships.map(\.relatedSpdxElement)) == Set(ids))

        let named = Dictionary(document.packages.map { ($0.name.lowercased(), $0) }) { $1 }
        let manifest = try String(contentsOf: repository.appending(path: "Package.swift"), encoding: .utf8)
        let urls = manifest.matches(of: /\.package\(url: "https:[^"]*\/([^"\/]+)"/)
        #expect(!urls.isEmpty)
        for url in urls { #expect(named[url.1.lowercased()] != nil, "\(url.1)") }
        struct Pins: Decodable {
            struct Pin: Decodable {
                var identity: String
                var state: [String: String]
            }
            var pins: [Pin]
        }
        for pin in try JSONDecoder().decode(Pins.self, from: Data(try text("files/Package.resolved").utf8)).pins {
            let package = try #require(named[pin.identity], "\(pin.identity)")
            #expect(package.versionInfo == pin.state["version"])
            #expect(package.downloadLocation.hasSuffix("@" + (pin.state["revision"] ?? "none")))
            #expect(package.licenseDeclared != "NOASSERTION", "\(pin.identity)")
        }
        let libraries = try await shell("readelf --dynamic '\(Program.url.path)'").matches(
            of: /\(NEEDED\).*\[(lib.+)\]/)
        let linked = Set(document.relationships.compactMap(\.comment).flatMap { $0.split(separator: " ") })
        #expect(!libraries.isEmpty)
        for library in libraries { #expect(linked.contains(library.1), "\(library.1)") }
        #expect(named["librdkafka1"]?.versionInfo.hasPrefix(KafkaLibrary.version) == true)
    }

    // MARK: Installing

    private func installAndRemove(_ package: String) async throws {
        // A root with the machine's list of packages, so that the dependencies are checked.
        try await shell(
            """
            mkdir --parents root/etc root/var/lib/dpkg/info root/var/lib/dpkg/updates root/tmp
            cp /var/lib/dpkg/status root/var/lib/dpkg
            echo root:x:0:0:root:/root:/bin/sh > root/etc/passwd
            echo root:x:0: > root/etc/group
            echo 'root:*:19000:0:99999:7:::' > root/etc/shadow
            echo 'root:*::' > root/etc/gshadow
            """)
        // The scripts of the package run with DPKG_ROOT, because the root has no shell. Backups of useradd end with "-".
        let state =
            "cd root && find . -path ./var/lib/dpkg -prune -o -type f ! -name '*-' -print | sort | xargs sha256sum"
        let machine = "sha256sum /etc/passwd /etc/group"
        let (before, machineBefore) = (try await shell(state), try await shell(machine))
        let dpkg = "dpkg --root=$PWD/root --force-script-chrootless"

        for _ in 0..<2 { try await shell("\(dpkg) --install files/\(package)") }
        #expect(try text("root/etc/passwd").contains(/\nnewswire:.*:\/usr\/sbin\/nologin\n/))
        #expect(try await shell("stat --format=%a root/etc/newswire/secrets") == "700\n")
        #expect(try await shell("root/usr/bin/newswire --version").hasPrefix("newswire \(version) "))
        let unit = try text("root/usr/lib/systemd/system/newswire.service")
        #expect(unit.contains("\nUser=newswire\n"))
        for started in unit.matches(of: /\nExec\w+=(\S+newswire) .*--config (\S+)/) {
            for path in [started.1, started.2] {
                #expect(FileManager.default.fileExists(atPath: folder.appending(path: "root\(path)").path), "\(path)")
            }
        }
        let yaml = try text("root/etc/newswire/newswire.yaml")
        let connection =
            "Endpoint=sb://example.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0"
        let configured = yaml.replacing("${file:/run/credentials/newswire.service/hub}", with: "\"\(connection)\"")
        #expect(configured != yaml && LoadedSettings(configured, environment: [:]).problems == [])

        // What an operator has added goes with a purge, and what was edited stays until then.
        try await shell(
            """
            echo '# edited' >> root/etc/newswire/newswire.yaml
            echo secret > root/etc/newswire/secrets/hub
            mkdir --parents root/etc/systemd/system/multi-user.target.wants
            ln --symbolic /usr/lib/systemd/system/newswire.service root/etc/systemd/system/multi-user.target.wants
            \(dpkg) --remove newswire
            """)
        #expect(try text("root/etc/newswire/newswire.yaml") == yaml + "# edited\n")
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "root/usr").path))
        try await shell("\(dpkg) --purge newswire")
        #expect(try await shell(state) == before)
        #expect(try await shell("find root -name '*newswire*'") == "")
        #expect(try await shell(machine) == machineBefore)
    }

    // MARK: Refusals

    @Test func `a release needs a clean commit with the version's tag and notes`() async throws {
        try await inFolder {
            let git = "git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false"
            try await shell(
                """
                git clone --quiet --shared '\(repository.path)' clone 2>&1
                cp '\(repository.path)/Package.resolved' clone
                cp '\(repository.path)/deploy/release' clone/deploy
                printf '# Changes\\n\\n## Unreleased\\n\\n- A change.\\n' > clone/deploy/CHANGELOG.md
                cd clone && \(git) commit --quiet --all --message=release
                """)
            func refusal() async throws -> String {
                let script = "clone/deploy/release --binary '\(Program.url.path)' --output files"
                let ended = try await Program.run(pasted: script, in: folder)
                #expect(ended.status == 1)
                return ended.errors
            }
            #expect(try await refusal().contains("git tag v\(version)"))
            try await shell("cd clone && git tag --force v\(version) 2>&1")
            #expect(try await refusal().contains("no section \"## \(version)\""))
            try await shell("echo >> clone/README.md")
            #expect(try await refusal().contains("uncommitted changes. Commit them, or use --draft:\n M README.md"))
            try await shell(
                """
                cd clone && sed --in-place 's/^## Unreleased/## \(version)/' deploy/CHANGELOG.md
                \(git) commit --quiet --all --message=notes && git tag --force v\(version) 2>&1
                """)
            // The program of the tests was built from another commit.
            #expect(try await refusal().contains("Build it again, or use --draft"))
            try await shell("rm clone/Package.resolved")
            #expect(try await refusal().contains("swift package resolve"))
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "files").path))
        }
    }

    @Test func `missing tools are named with their packages`() async throws {
        try await inFolder {
            let python = try await shell("readlink --canonicalize $(python3 -c 'import sys; print(sys.executable)')")
            let release = repository.appending(path: "deploy/release").path
            try await shell("mkdir tools && ln --symbolic $(command -v git) $(command -v swift) tools")
            let script = "PATH=$PWD/tools \(python.trimmingCharacters(in: .newlines)) '\(release)' --draft"
            let ended = try await Program.run(pasted: script, in: folder)
            #expect(ended.status == 1)
            #expect(
                ended.errors.contains("needs dpkg-deb, dpkg-query, dpkg-shlibdeps, readelf, strip"), "\(ended.errors)")
            #expect(ended.errors.contains("apt-get install binutils dpkg dpkg-dev"))
        }
    }
}
