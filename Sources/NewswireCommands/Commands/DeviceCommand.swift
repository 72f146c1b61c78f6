import ArgumentParser
import BreakingNews
import Foundation
import HubIO
import NewsModel
import NotificationHub
import Synchronization

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Runs a subscriber on the command line.",
        discussion: """
            It registers with the hub like an app on a phone, prints each notification as it arrives, and unregisters \
            on Ctrl-C. A key with the Listen right is enough.

            Example, in two terminals:
              newswire hub --hub breaking-news
              newswire device --connection-string 'Endpoint=…' --hub breaking-news \\
                --categories World,Sports

            --language is one of \(NewsLanguage.standard.map { "\($0.code) (\($0.name))" }.joined(separator: ", ")), \
            or another one by code and name, such as de=German. If the sender has no such language, it prints (no \
            text), and a phone would show an empty alert.

            With --interests it follows what events name in interests, e.g. team:bvb,author:4711. If the newsroom's \
            interests have other tags than KIND_{id}, write the tag after the id, as team:bvb=club-{id}. A device has at \
            most \(Subscription.tagsMax) tags.

            With --user it gets the events that name this reader in users. In an app only your back end may say who \
            the reader is; a hub with --protect-tags wants a key with more rights for it.

            With --state and --keep it stays the same device: when started again, it prints what arrived in the \
            meantime. Only the emulator of 'newswire hub' shows its deliveries; with the real service the device can \
            register, but its notifications go to the platform.

            Exit code 1 if the hub refuses the key, the hub's name or the device, or if it could not unregister.
            """)

    @Option(help: .init("The hub's connection string, with the Listen right.", valueName: "s"))
    var connectionString: String
    @Option(help: .init("The hub's name.", valueName: "name")) var hub: String?
    @Option(help: .init("The categories to subscribe to, separated by commas.", valueName: "list"))
    var categories: String?
    @Option(help: .init("What to follow beside them, as kind:id, separated by commas.", valueName: "list"))
    var interests: String?
    @Option(help: .init("The reader's language; without one the text for all readers.", valueName: "language"))
    var language: String?
    @Option(help: .init("The reader whose device it is; needs no categories.", valueName: "id")) var user: String?
    @Option(help: "The device's platform: apple, fcmv1, windows or browser.") var platform = DevicePlatform.apple
    @Option(help: .init("The device's address at its platform; by default made up.", valueName: "h"))
    var handle: String?
    @Option(
        help: .init("Trust the authorities in this PEM file instead of the system's.", valueName: "file"),
        completion: .file())
    var trustRoots: String?
    @Option(
        help: .init("Keep the device's identity and position in this file.", valueName: "file"), completion: .file())
    var state: String?
    @Flag(help: "Use registrations, like older apps, instead of an installation.") var registrations = false
    @Flag(help: "Stay registered on exit.") var keep = false
    @Flag(help: "Print one JSON object per notification, for programs.") var json = false

    func validate() throws {
        _ = try settings()
        if let user, !(1...EventLimits.user).contains(user.utf8.count) {
            throw ValidationError("--user must have 1 to \(EventLimits.user) bytes.")
        }
        if user != nil, registrations {
            throw ValidationError("--user needs an installation; leave out --registrations.")
        }
        let followed = try followed()
        if interests != nil, followed.isEmpty { throw ValidationError("--interests must name at least one interest.") }
        guard try !chosen().isEmpty || (categories == nil && (user != nil || !followed.isEmpty)) else {
            throw ValidationError("--categories must name at least one category.")
        }
        let tags = Set(try chosen().map(\.tag)).union(followed.map(\.tag))
        guard tags.count <= Subscription.tagsMax else {
            throw ValidationError("\(NewsInterestProblem.tooMany(max: Subscription.tagsMax)); these are \(tags.count).")
        }
        if let handle { try check(handle) }
        _ = try newsLanguage()
    }

    private func newsLanguage() throws -> NewsLanguage? {
        guard let language else { return nil }
        let parts = language.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, let code = parts.first, let name = parts.last {
            do { return try NewsLanguage(code: code, name: name) } catch {
                throw ValidationError("--language: \(error)")
            }
        }
        if let known = NewsLanguage.best(of: NewsLanguage.standard, for: [language]) { return known }
        let code = language.isEmpty ? "de" : language
        throw ValidationError("--language '\(language)': write the code and the name of the sender, as \(code)=German.")
    }

    private func settings() throws -> RegistrationSettings {
        do {
            let connection = try ConnectionString(parsing: connectionString)
            guard let name = try hub.map({ try HubName($0) }) ?? connection.entityPath else {
                throw ValidationError("--hub is missing; write the hub's name.")
            }
            return RegistrationSettings(
                connection: connection, hub: name, form: registrations ? .registrations(native: false) : .installation)
        } catch let problem as ValidationError {
            throw problem
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private func chosen() throws -> [NewsCategory] {
        let names = (categories ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return try names.filter { !$0.isEmpty }.map { name in
            // A standard category keeps its own spelling.
            if let known = NewsCategory.standard.first(where: { $0.name.lowercased() == name.lowercased() }) {
                return known
            }
            do { return try NewsCategory(name) } catch { throw ValidationError("'\(name)': \(error)") }
        }
    }

    private func followed() throws -> [NewsInterest] {
        let words = (interests ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return try words.filter { !$0.isEmpty }.map { word in
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            do throws(NewsInterestProblem) {
                return try NewsInterest(parts.first ?? "", pattern: parts.count > 1 ? parts[1] : nil)
            } catch {
                throw ValidationError("--interests: \(error)")
            }
        }
    }

    private func check(_ handle: String) throws {
        guard !handle.isEmpty, handle.utf8.count <= PushChannel.handleLengthMax else {
            throw ValidationError("--handle must have 1 to \(PushChannel.handleLengthMax) bytes.")
        }
        if platform == .apple, !handle.allSatisfy({ $0.isASCII && $0.isHexDigit }) || !handle.count.isMultiple(of: 2) {
            throw ValidationError("--handle of an apple device must be an even number of hexadecimal digits.")
        }
    }

    func run() async throws {
        let settings = try settings()
        let link: DeviceLink
        do throws(TrustRootsProblem) {
            link = try DeviceLink(settings.connection.endpoint, roots: trustRoots.map { .file($0) } ?? .system)
        } catch {
            throw CommandFailure("\(error)")
        }
        let store: any LocalStore = state.map { FileStore(URL(fileURLWithPath: $0)) } ?? MemoryStore()
        var memory = DeviceMemory(store)
        let handle = handle ?? memory.handle(on: platform) ?? platform.newHandle()
        memory.become(handle, on: platform)
        do { try memory.save() } catch {
            throw CommandFailure("the state cannot be saved: \(error.localizedDescription)")
        }
        let choices = CategoryStore(store, offer: try chosen())
        try choices.choose(try chosen())
        let followed = try followed()
        let language = try newsLanguage()
        // The reader's id is left out, because the output of a device ends up in logs.
        let names =
            (choices.chosen.map(\.name) + followed.map(\.description) + (user == nil ? [] : ["a single reader"]))
            .joined(separator: ", ")
            + (language.map { " in \($0.name)" } ?? "")
        let end = DeviceEnd()
        let registrar = HubRegistrar(settings, store: store, transport: link) { state in
            Self.report(state, "\(names) as \(platform.rawValue) \(handle)", end)
        }
        await registrar.want(
            Subscription(
                channel: platform.channel(handle), tags: choices.chosen.map(\.tag) + followed.map(\.tag),
                userID: user.map { UserTags.userID(for: $0) }, language: language))
        // The hub may have been restarted since the last run.
        await registrar.refresh()
        let inbox = DeviceInbox(
            settings.connection.endpoint, settings.hub, link, memory: memory, onReturn: { await registrar.refresh() }
        ) { notification in
            do throws(ExitCode) {
                try Terminal.standardOutput.line(json ? notification.json : notification.line)
            } catch {
                end.end(error)
            }
        }
        Signals.onStop { end.end(nil) }
        await withTaskGroup { group in
            group.addTask { await registrar.run() }
            group.addTask { await inbox.run() }
            await end.wait()
            group.cancelAll()
        }
        if end.isForbidden { throw ExitCode.failure }
        if !keep { await registrar.want(nil) }
        let state = keep ? RegistrationState.unregistered : await registrar.settle()
        guard state == .unregistered else { throw CommandFailure("the device may still be registered") }
        if let exit = end.exit { throw exit }
        // Prints what was delivered until now. Tries three times, because a busy hub may be slow to answer.
        for _ in 1...3 { if await inbox.catchUp() { break } }
        if let exit = end.exit { throw exit }
    }

    private static func report(_ state: RegistrationState, _ whom: String, _ end: DeviceEnd) {
        switch state {
        case .waiting(let failure) where failure.remedy != nil:
            notice("error: \(failure); \(failure.remedy ?? "")")
            end.end(failure)
        case .registering: break
        case .registered: notice("registered for \(whom)")
        case .unregistered: notice("unregistered")
        case .waiting(let failure):
            let seconds = max(1, failure.retryAt - Int64(Date().timeIntervalSince1970))
            notice("not registered: \(failure); next attempt in \(seconds) s")
        }
    }
}

/// The end of a device's life: a signal, an output that accepts nothing more, or a final refusal by the hub.
final class DeviceEnd: Sendable {
    private struct State {
        var exit: ExitCode?
        var isForbidden = false
    }

    private let state = Mutex(State())
    private let (ended, ending) = AsyncStream<Never>.makeStream()

    /// The first exit that was not caused by a signal.
    var exit: ExitCode? { state.withLock { $0.exit } }
    /// True if the hub refuses every call, including the one that would remove the device.
    var isForbidden: Bool { state.withLock { $0.isForbidden } }

    /// - Parameter exit: `nil` for a signal.
    func end(_ exit: ExitCode?) {
        state.withLock { $0.exit = $0.exit ?? exit }
        ending.finish()
    }

    /// Ends the device because of a failure that no retry would repair.
    func end(_ failure: RegistrationFailure) {
        if case .forbidden = failure.reason { state.withLock { $0.isForbidden = true } }
        end(.failure)
    }

    /// Returns once the device must end, or if the task is cancelled.
    func wait() async { for await _ in ended {} }
}

extension RegistrationFailure {
    /// The remedy for a person; `nil` for a temporary failure.
    var remedy: String? {
        switch reason {
        case .unreachable, .busy: nil
        case .forbidden(status: 401, _):
            "copy the connection string again, and check this machine's clock"
        case .forbidden(status: 404, _): "check --hub and the Endpoint of the connection string"
        case .forbidden:
            "use a connection string with the Listen right, or with all rights for --user where the hub protects tags"
        case .refused, .tooManyTags: "check --platform, --handle, --categories and --interests"
        }
    }
}
