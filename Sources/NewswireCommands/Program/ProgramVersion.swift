import KafkaIO
import PublisherService
import Synchronization

/// The versions that `newswire --version` tells.
enum ProgramVersion {
    /// The commit of the build; empty if the build did not know it.
    static let commit = Mutex("")

    static var text: String {
        let commit = commit.withLock(\.self)
        return "newswire \(ServiceVersion.text) (commit \(commit.isEmpty ? "unknown" : commit), "
            + "librdkafka \(KafkaLibrary.version))"
    }
}
