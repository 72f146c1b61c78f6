import FeedIO
import Feeds
import Foundation
import KafkaIO
import NIOCore
import NewsModel
import NewswireSettings

/// The argument of `--explain`, an address or a file, with the rules of its feed.
struct ExplainedSource {
    var text: String
    var rules: FeedRules

    private var isAddress: Bool { Self.isAddress(text) }

    private static func isAddress(_ text: String) -> Bool {
        let start = text.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    /// - Parameter named: the feed that `--feed` names, if that option is given.
    init(_ text: String, named: FeedRules?, feeds: [FeedRules]) {
        self.text = text
        let configured = named ?? feeds.first { $0.url == text }
        rules = configured ?? FeedRules(name: Self.name(for: text), url: Self.isAddress(text) ? text : "")
        // A person has chosen this address, so it may be private. Redirects are still checked.
        if Self.isAddress(text), configured?.url != text, let host = URLComponents(string: text)?.host {
            rules.allowPrivate.append(host)
        }
    }

    /// The host, or the file's name without its extension.
    private static func name(for text: String) -> String {
        let host = isAddress(text) ? URLComponents(string: text)?.host : nil
        let name = host ?? URL(fileURLWithPath: text).deletingPathExtension().lastPathComponent
        let clean = name.filter {
            $0 != "/" && !$0.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
        return clean.isEmpty ? "feed" : String(clean.prefix(100))
    }

    /// The reason why nothing can be explained, in one sentence.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    func read(contact: String?) async throws(Failure) -> FeedDocument {
        isAddress ? try await fetch(contact: contact) : try readFile()
    }

    // MARK: An address

    private func fetch(contact: String?) async throws(Failure) -> FeedDocument {
        var settings = FetcherSettings()
        settings.contact = contact
        settings.trustCertificates(of: ProcessInfo.processInfo.environment)
        do {
            let fetcher = try Fetcher(settings)
            let request = FetchRequest(
                url: text, headers: rules.headers, allowPrivate: rules.allowPrivate, zoneMinutes: rules.zoneMinutes)
            let result = try await fetcher.fetch(request).result.get()
            await fetcher.close()
            switch AnswerVerdict(result, to: request, at: ServiceClock.wall) {
            case .changed(let document, _): return document
            case .failed(let trouble): throw Failure(trouble.detail)
            case .wait(_, _, let trouble): throw Failure(trouble.detail)
            case .gone: throw Failure("the publisher says that the feed is gone for good (410)")
            case .unchanged, .canceled: throw Failure("there was no answer")
            }
        } catch let failure as Failure {
            throw failure
        } catch let failure as FetchFailure {
            throw Failure(failure.detail)
        } catch {
            throw Failure("\(error)")
        }
    }

    // MARK: A file

    private func readFile() throws(Failure) -> FeedDocument {
        let bytes: [UInt8]
        do {
            bytes = try SettingsFile.bytes(of: text, max: FeedLimits.document)
        } catch {
            let reason =
                switch error {
                case .missing: "does not exist; an address begins with http:// or https://"
                case .tooLarge: "is larger than \(FeedLimits.document >> 20) MiB, the most that is read of a feed"
                default: "cannot be read"
                }
            throw Failure("the file \(reason)")
        }
        do {
            return try FeedReader.read(bytes, from: DocumentSource(address: rules.url, zoneMinutes: rules.zoneMinutes))
        } catch {
            throw Failure(error.detail)
        }
    }
}
