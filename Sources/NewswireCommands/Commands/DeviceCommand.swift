import ArgumentParser
import BreakingNews
import Foundation
import HubIO
import NewsModel
import NotificationHub

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Runs a subscriber on the command line.",
        discussion: """
            It registers with the hub like an app on a phone, prints each notification as it arrives, and \
            unregisters on Ctrl-C. A key with the Listen right is enough.

            Example, in two terminals:
              newswire hub --name breaking-news
              newswire device --connection-string 'Endpoint=…' --hub breaking-news \\
                --categories World,Sports

            With --language it asks for the text in that language, where the sender has localization: one of \
            \(NewsLanguage.standard.map { "\($0.code) (\($0.name))" }.joined(separator: ", ")), or another one by code and \
            name, such as de=German. If the sender has no such language, it prints (no text), and a phone would \
            show an empty alert: choose among the sender's.

            With --user it belongs to a reader and gets the events that name this reader in users. In an app only your \
            back end may say so, as with the Listen right alone anybody could claim to be anybody; a hub with \
            --protect-tags wants a key with more rights for it.

            With --state and --keep it stays the same device: when started again, it prints what arrived in the \
            meantime. Only the emulator of 'newswire hub' shows its deliveries; with the real service the device \
            can register, but its notifications go to the platform.

            Exit code 1 if the hub refuses the key, the hub's name or the device, or if it could not unregister.
            """)

    @Option(help: ArgumentHelp("The hub's connection string, with the Listen right.", valueName: "s"))
    var connectionString: String
    @Option(help: ArgumentHelp("The hub's name.", valueName: "n"))
    var hub: String?
    @Option(help: ArgumentHelp("The categories to subscribe to, separated by commas.", valueName: "list"))
    var categories: String?
    @Option(
        help: ArgumentHelp("The reader's language; without one the text for all readers.", valueName: "code"))
    var language: String?
    @Option(help: ArgumentHelp("The reader whose device it is; needs no categories.", valueName: "id"))
    var user: String?
    @Option(help: "The device's platform: apple, fcmv1, windows or browser.")
    var platform = DevicePlatform.apple
    @Option(help: ArgumentHelp("The device's address at its platform; by default made up.", valueName: "h"))
    var handle: String?
    @Option(
        help: ArgumentHelp("Trust the authorities in this PEM file instead of the system's.", valueName: "file"),
        completion: .file())
    var trustRoots: String?
    @Option(
        help: ArgumentHelp("Keep the device's identity and position in this file.", valueName: "file"),
        completion: .file())
    var state: String?
    @Flag(help: "Use registrations, like older apps, instead of an installation.")
    var registrations = false
    @Flag(help: "Stay registered on exit.")
    var keep = false
    @Flag(help: "Print one JSON object per notification, for programs.")
    var json = false

    func validate() throws {
        _ = try settings()
        if let user, !(1...EventLimits.user).contains(user.utf8.count) {
            throw ValidationError("--user must have 1 to \(EventLimits.user) bytes.")
        }
        if user != nil, registrations {
            throw ValidationError("--user needs an installation; leave out --registrations.")
        }
        guard try !chosen().isEmpty || (user != nil && categories == nil) else {
            throw ValidationError("--categories must name at least one category.")
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
        do {
            link = try DeviceLink(settings.connection.endpoint, roots: trustRoots.map { .file($0) } ?? .system)
        } catch {
            Terminal.standardError.line("error: \(error)")
            throw ExitCode.failure
        }
        let store: any LocalStore = state.map { FileStore(URL(fileURLWithPath: $0)) } ?? MemoryStore()
        var memory = DeviceMemory(store)
        let handle = handle ?? memory.handle(on: platform) ?? platform.newHandle()
        memory.become(handle, on: platform)
        do { try memory.save() } catch {
            Terminal.standardError.line("error: the state cannot be saved: \(error.localizedDescription)")
            throw ExitCode.failure
        }
        let choices = CategoryStore(store, offer: try chosen())
        try choices.choose(try chosen())
        let language = try newsLanguage()
        // The reader's id is left out, because the output of a device ends up in logs.
        let names =
            (choices.chosen.map(\.name) + (user == nil ? [] : ["a single reader"])).joined(separator: ", ")
            + (language.map { " in \($0.name)" } ?? "")
        let end = DeviceEnd()
        let registrar = HubRegistrar(settings, store: store, transport: link) { state in
            Self.report(state, "\(names) as \(platform.rawValue) \(handle)", end)
        }
        await registrar.want(
            Subscription(
                channel: platform.channel(handle), tags: choices.chosen.map(\.tag),
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
        let signals = StopSignals { end.end(nil) }
        await withTaskGroup { group in
            group.addTask { await registrar.run() }
            group.addTask { await inbox.run() }
            await end.wait()
            group.cancelAll()
        }
        if end.isForbidden { throw ExitCode.failure }
        if !keep { await registrar.want(nil) }
        let state = keep ? RegistrationState.unregistered : await registrar.settle()
        guard state == .unregistered else {
            Terminal.standardError.line("error: the device may still be registered")
            throw ExitCode.failure
        }
        if let exit = end.exit { throw exit }
        // Prints what was delivered until now. Tries three times, because a busy hub may be slow to answer.
        for _ in 1...3 { if await inbox.catchUp() { break } }
        if let exit = end.exit { throw exit }
        withExtendedLifetime(signals) {}
    }

    private static func report(_ state: RegistrationState, _ whom: String, _ end: DeviceEnd) {
        switch state {
        case .waiting(let failure) where failure.remedy != nil:
            Terminal.standardError.line("error: \(failure); \(failure.remedy ?? "")")
            end.end(failure)
        case .registering: break
        case .registered: Terminal.standardError.line("registered for \(whom)")
        case .unregistered: Terminal.standardError.line("unregistered")
        case .waiting(let failure):
            let seconds = max(1, failure.retryAt - Int64(Date().timeIntervalSince1970))
            Terminal.standardError.line("not registered: \(failure); next attempt in \(seconds) s")
        }
    }
}
