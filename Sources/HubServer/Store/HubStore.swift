import Foundation
import GRDB
import HubEmulator
import NotificationHub
import Synchronization

/// The hubs with their registrations, installations, recent sends and deliveries, in one SQLite file. The data survives
/// a killed process.
final class HubStore: Sendable {
    /// Changes that are not in the file.
    private struct Backlog {
        /// The changes, oldest first.
        var changes: [NamespaceChange] = []
        /// The error of the last attempt to write the changes.
        var problem: HubServerProblem?
    }

    private let database: DatabaseQueue
    private let backlog = Mutex(Backlog())
    /// True once the file is closed. Locked during writes, so that changes are written in order. One transaction writes
    /// the changes of all waiting callers.
    private let writing = Mutex(false)
    private let messagesKept: Int
    /// The most deliveries of each hub in the file.
    private static let deliveriesKept = 10_000
    private let path: String
    /// Receives one line when the file cannot be written, and one when it can be written again.
    private let report: @Sendable (String) -> Void

    private init(
        _ database: DatabaseQueue, path: String, messagesKept: Int, report: @escaping @Sendable (String) -> Void
    ) {
        self.database = database
        self.messagesKept = messagesKept
        self.path = path
        self.report = report
    }

    /// Opens the file exclusively until the process ends, because two hubs would overwrite each other's data.
    /// - Parameter hub: the name for the only hub in a file of the older format, which does not contain it.
    convenience init(
        path: String, hub: HubName, messagesKept: Int, report: @escaping @Sendable (String) -> Void
    ) throws(HubServerProblem) {
        self.init(try Self.open(path, hub), path: path, messagesKept: messagesKept, report: report)
    }

    private static func open(_ path: String, _ hub: HubName) throws(HubServerProblem) -> DatabaseQueue {
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                // A killed process loses no data. Only a power failure could undo the last transactions.
                try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            }
            let database = try DatabaseQueue(path: path, configuration: configuration)
            var migrator = DatabaseMigrator()
            migrator.registerMigration("1") { database in
                try database.execute(
                    sql: """
                        CREATE TABLE registrations (
                            id TEXT PRIMARY KEY, etag INTEGER NOT NULL, entry BLOB NOT NULL) WITHOUT ROWID;
                        CREATE TABLE installations (id TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                        CREATE TABLE messages (number INTEGER PRIMARY KEY, json BLOB NOT NULL);
                        CREATE TABLE rules (position INTEGER PRIMARY KEY, name TEXT NOT NULL, rights INTEGER NOT NULL,
                            primaryKey TEXT NOT NULL, secondaryKey TEXT);
                        """)
            }
            migrator.registerMigration("2") { try nameHubs($0, first: hub) }
            try migrator.migrate(database)
            return database
        } catch {
            throw problem(error, path)
        }
    }

    /// Adds the hub's name to every row. The namespace has the empty name.
    private static func nameHubs(_ database: Database, first hub: HubName) throws {
        let rules = try Row.fetchAll(database, sql: "SELECT * FROM rules ORDER BY position").map { row in
            AccessRule(
                name: row["name"], primaryKey: AccessKey(row["primaryKey"]),
                secondaryKey: (row["secondaryKey"] as String?).map { AccessKey($0) },
                rights: AccessRule.Rights(rawValue: row["rights"]))
        }
        try database.execute(
            sql: """
                CREATE TABLE hubs (
                    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, description BLOB NOT NULL);
                CREATE TABLE deliveries (
                    hub INTEGER NOT NULL REFERENCES hubs (number) ON DELETE CASCADE, number INTEGER NOT NULL,
                    json BLOB NOT NULL, PRIMARY KEY (hub, number)) WITHOUT ROWID;
                DROP TABLE rules;
                """)
        for (table, columns) in [
            ("registrations", "id TEXT NOT NULL, etag INTEGER NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (hub, id)"),
            ("installations", "id TEXT NOT NULL, json BLOB NOT NULL, PRIMARY KEY (hub, id)"),
            ("messages", "number INTEGER NOT NULL, json BLOB NOT NULL, PRIMARY KEY (hub, number)"),
        ] {
            try database.execute(
                sql: """
                    ALTER TABLE \(table) RENAME TO old;
                    CREATE TABLE \(table) (
                        hub INTEGER NOT NULL REFERENCES hubs (number) ON DELETE CASCADE, \(columns)) WITHOUT ROWID;
                    INSERT INTO \(table) SELECT 1, * FROM old;
                    DROP TABLE old;
                    """)
        }
        guard !rules.isEmpty else { return }
        try save(HubDescription(rules: rules, at: HubTime(milliseconds: 0)).stored, hub.text, database)
    }

    /// A hub's description with its keys, so that connection strings stay valid across a restart.
    /// - Parameter hub: `nil` for the namespace itself.
    func description(of hub: HubName?) throws(HubServerProblem) -> HubDescription? {
        try inFile {
            try database.read { database in
                try Data.fetchOne(
                    database, sql: "SELECT description FROM hubs WHERE name = ?", arguments: [hub?.text ?? ""])
            }.map { try read($0, of: hub?.text ?? "") }
        }
    }

    private func read(_ description: Data, of hub: String) throws(HubServerProblem) -> HubDescription {
        guard let description = HubDescription(stored: Array(description)) else {
            throw .store(
                path, "the description of \(hub.isEmpty ? "the namespace" : "its hub \(hub)") cannot be read",
                remedy: "restore the file as it was, or choose another file with --store")
        }
        return description
    }

    /// Restores everything stored, and stores the current hubs.
    func restore(into hubs: inout EmulatedNamespace) throws(HubServerProblem) {
        var restored = hubs
        try inFile {
            try database.write { database in
                for (name, description) in restored.descriptions {
                    try Self.save(description.stored, name?.text ?? "", database)
                }
                let others = try Row.fetchAll(database, sql: "SELECT name, description FROM hubs WHERE name <> ''")
                for row in others {
                    let name = try HubName(row["name"] as String)
                    // The hub that was named at start already exists.
                    guard !restored.hasHub(name) else { continue }
                    guard !EmulatedNamespace.reserves(name) else { throw reserved(name) }
                    guard restored.addHub(name, try read(row["description"], of: name.text)) else {
                        throw full(with: restored.withFirst { $0.settings.name })
                    }
                }
                for name in restored.hubNames {
                    _ = try restored.withHub(name) { hub in
                        Result { try Self.restore(&hub, database) }
                    }?.get()
                }
            }
        }
        hubs = restored
    }

    private func reserved(_ name: HubName) -> HubServerProblem {
        .store(
            path, "its hub \(name) has a name of the emulator's own, which begins with '_'",
            remedy: "choose another file with --store")
    }

    private func full(with first: HubName) -> HubServerProblem {
        .store(
            path,
            "it holds \(EmulatedNamespace.hubsMax) hubs, and \(first) would be one more than a namespace may have",
            remedy: "start with the name of one of them, or choose another file with --store")
    }

    private static func restore(_ hub: inout EmulatedHub, _ database: Database) throws {
        let key: StatementArguments = [hub.settings.name.text]
        let rows = { (table: String, order: String) in
            try Row.fetchCursor(
                database,
                sql: "SELECT \(table).* FROM \(table) JOIN hubs ON hub = hubs.number WHERE name = ? ORDER BY \(order)",
                arguments: key)
        }
        let registrations = try rows("registrations", "id")
        while let row = try registrations.next() {
            _ = hub.restoreRegistration(id: row["id"], etag: row["etag"], entry: Array(row["entry"] as Data))
        }
        let installations = try rows("installations", "id")
        while let row = try installations.next() {
            _ = hub.restoreInstallation(id: row["id"], json: Array(row["json"] as Data))
        }
        let deliveries = try rows("deliveries", "deliveries.number")
        while let row = try deliveries.next() {
            let json = JSONTree(parsing: Array(row["json"] as Data))
            if let delivery = json.flatMap(PushedNotification.init(json:)) { hub.restore(delivery) }
        }
        let messages = try rows("messages", "messages.number")
        while let row = try messages.next() {
            let json = JSONTree(parsing: Array(row["json"] as Data))
            if let message = json.flatMap(ReceivedMessage.init(json:)) { hub.restore(message) }
        }
    }

    private func inFile<Value>(_ body: () throws -> Value) throws(HubServerProblem) -> Value {
        do { return try body() } catch { throw Self.problem(error, path) }
    }

    /// Closes the file. Later changes are not stored.
    func close() {
        save()
        writing.withLock { isClosed in
            isClosed = true
            try? database.close()
        }
    }

    private static func problem(_ error: any Error, _ path: String) -> HubServerProblem {
        if let problem = error as? HubServerProblem { return problem }
        let another = "choose another file with --store"
        guard let error = error as? DatabaseError else { return .store(path, "\(error)", remedy: another) }
        return switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            .store(path, "it is in use by another hub or program", remedy: "stop that, or \(another)")
        case .SQLITE_CANTOPEN:
            .store(path, "it cannot be opened", remedy: "create its folder, and let this user write there")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            .store(path, "it cannot be written", remedy: "let this user write to it and to its folder")
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            .store(path, "it is damaged, or not the store of a hub", remedy: "restore it, or \(another)")
        case .SQLITE_FULL, .SQLITE_IOERR:
            .store(path, "the disk is full or fails", remedy: "make room, or \(another)")
        default:
            .store(path, error.message ?? "SQLite error \(error.extendedResultCode.rawValue)", remedy: another)
        }
    }

    // MARK: Changes

    /// Buffers changes for `save`. Call it in the order in which the changes were made.
    func keep(_ changes: [NamespaceChange]) { backlog.withLock { $0.changes += changes } }

    /// Writes everything buffered, including changes of failed attempts, because a change may depend on an earlier one.
    /// - Returns: the reason if it is still not in the file.
    @discardableResult
    func save() -> HubServerProblem? {
        writing.withLock { isClosed in
            let changes = backlog.withLock { backlog in
                defer { backlog.changes = [] }
                return backlog.changes
            }
            guard !changes.isEmpty, !isClosed else { return nil }
            let problem = attempt(changes)
            let before = backlog.withLock { backlog in
                if problem != nil { backlog.changes.insert(contentsOf: changes, at: 0) }
                defer { backlog.problem = problem }
                return backlog.problem
            }
            if let problem, before == nil {
                report("error: \(problem). Until then, calls that change something are answered with 503.")
            } else if problem == nil, before != nil {
                report("the store \(path) is complete again")
            }
            return problem
        }
    }

    /// Retries a failed write. During the failure no other changes are accepted, which bounds the buffer.
    /// - Returns: the reason if it fails again.
    func retry() -> HubServerProblem? { backlog.withLock { $0.problem } == nil ? nil : save() }

    private func attempt(_ changes: [NamespaceChange]) -> HubServerProblem? {
        do {
            try database.write { database in
                for change in changes { try write(change.change, of: change.hub.text, database) }
            }
            return nil
        } catch {
            return Self.problem(error, path)
        }
    }

    private func write(_ change: HubChange, of hub: String, _ database: Database) throws {
        let run = { (sql: String, arguments: StatementArguments) in
            try database.cachedStatement(sql: sql).execute(arguments: arguments)
        }
        let number = "(SELECT number FROM hubs WHERE name = ?)"
        switch change {
        case .registration(let id, let etag, let entry?):
            try run("INSERT OR REPLACE INTO registrations VALUES (\(number), ?, ?, ?)", [hub, id, etag, Data(entry)])
        case .registration(let id, _, nil):
            try run("DELETE FROM registrations WHERE hub = \(number) AND id = ?", [hub, id])
        case .installation(let id, let json?):
            try run("INSERT OR REPLACE INTO installations VALUES (\(number), ?, ?)", [hub, id, Data(json)])
        case .installation(let id, nil):
            try run("DELETE FROM installations WHERE hub = \(number) AND id = ?", [hub, id])
        case .message(let message):
            try run(
                "INSERT OR REPLACE INTO messages VALUES (\(number), ?, ?)",
                [hub, message.number, Data(message.json.bytes)])
            try run(
                "DELETE FROM messages WHERE hub = \(number) AND number <= ?", [hub, message.number - messagesKept])
        case .delivery(let delivery):
            try run(
                "INSERT OR REPLACE INTO deliveries VALUES (\(number), ?, ?)",
                [hub, delivery.number, Data(delivery.json.bytes)])
            try run(
                "DELETE FROM deliveries WHERE hub = \(number) AND number <= ?",
                [hub, delivery.number - Self.deliveriesKept])
        case .description(let description?): try Self.save(description, hub, database)
        case .description(nil):
            // Dependent rows are deleted with the hub.
            try run("DELETE FROM hubs WHERE name = ?", [hub])
        }
    }

    private static func save(_ description: [UInt8], _ hub: String, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO hubs (name, description) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET description = excluded.description
                """, arguments: [hub, Data(description)])
    }
}
