import ByteText
import NotificationHub

/// A job that imports or exports registrations in bulk.
struct RegistrationJob: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case export = "ExportRegistrations"
        case create = "ImportCreateRegistrations"
        case update = "ImportUpdateRegistrations"
        case delete = "ImportDeleteRegistrations"
        case upsert = "ImportUpsertRegistrations"
    }

    enum Status: String, Sendable {
        case started = "Started"
        case running = "Running"
        case completed = "Completed"
        case failed = "Failed"

        var isFinal: Bool { self == .completed || self == .failed }
    }

    let id: String
    let kind: Kind
    /// The signed addresses that the client gave.
    let outputContainer: String
    let importFile: String?
    var host: StorageHost?
    let created: HubTime
    var updated: HubTime
    var status = Status.started
    /// The progress in per cent.
    var progress = 0
    var failure: String?

    // The work done until now.
    var input: [UInt8] = []
    /// The next byte of the input, or the next slot of an export.
    var position = 0
    var line = 0
    var output: [UInt8] = []
    var failed: [UInt8] = []

    init(
        id: String, kind: Kind, outputContainer: String, importFile: String?, at now: HubTime
    ) {
        (self.id, self.kind, self.outputContainer, self.importFile) = (id, kind, outputContainer, importFile)
        (created, updated) = (now, now)
    }

    /// Reads what a client submits.
    init(_ body: [UInt8], id: String, at now: HubTime) throws(Refusal) {
        let entry = try XMLElement(body: body)
        guard entry.localName == "entry", let job = entry.child("content")?.child("NotificationHubJob") else {
            throw .badRequest("The body must be an Atom entry with a NotificationHubJob in its content")
        }
        guard let kind = (job.child("Type")?.text.trimmed).flatMap({ Kind(rawValue: String($0)) }) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badRequest("The Type of the job must be one of \(known)")
        }
        let address = { (name: String) -> String? in
            let text = job.child(name)?.text.trimmed ?? ""
            return text.isEmpty || text.utf8.count > 4096 ? nil : String(text)
        }
        guard let output = address("OutputContainerUri") else {
            throw .badRequest("The job needs an OutputContainerUri of at most 4096 bytes")
        }
        guard kind == .export || address("ImportFileUri") != nil else {
            throw .badRequest("An import needs an ImportFileUri of at most 4096 bytes")
        }
        self.init(id: id, kind: kind, outputContainer: output, importFile: address("ImportFileUri"), at: now)
    }

    /// True for an address at the host to which the job was sent. The emulator has storage only there.
    func isHere(_ url: String) -> Bool { host != nil && StorageHost(url: url) == host }

    func path(hub: HubName, file: String) -> String { "\(hub)/\(id)/\(file)" }

    /// - Parameter isListed: true within a feed, whose namespace then applies.
    func entry(hub: HubName, address: String, isListed: Bool = false) -> String {
        let url = XMLText.escaped(address)
        let text = { (name: String, value: String) in RegistrationXML.element(name, value) }
        var out = isListed ? "<entry>" : "<entry xmlns=\"http://www.w3.org/2005/Atom\">"
        out += "<id>\(url)</id><title type=\"text\">\(id)</title><published>\(created.iso())</published>"
        out +=
            "<updated>\(updated.iso())</updated><link rel=\"self\" href=\"\(url)\"/><content type=\"application/xml\">"
        out += "<NotificationHubJob xmlns=\"\(RegistrationXML.namespace)\" xmlns:i=\"\(RegistrationXML.instance)\">"
        out += text("JobId", id)
        if progress > 0 { out += text("Progress", String(progress)) }
        out += text("Type", kind.rawValue)
        // The initial state is the default and is left out.
        if status != .started { out += text("Status", status.rawValue) }
        out += text("OutputContainerUri", outputContainer)
        if let importFile { out += text("ImportFileUri", importFile) }
        if let failure { out += text("Failure", failure) }
        if status == .completed {
            // The Java client reads exactly this prefix.
            out += "<OutputProperties xmlns:d3p1=\"http://schemas.microsoft.com/2003/10/Serialization/Arrays\">"
            for (key, file) in [("OutputFilePath", "Output.txt"), ("FailedFilePath", "Failed.txt")] {
                let pair = text("d3p1:Key", key) + text("d3p1:Value", "/" + path(hub: hub, file: file))
                out += "<d3p1:KeyValueOfstringstring>\(pair)</d3p1:KeyValueOfstringstring>"
            }
            out += "</OutputProperties>"
        }
        out += text("CreatedAt", created.iso(fractionDigits: 7)) + text("UpdatedAt", updated.iso(fractionDigits: 7))
        return out + "</NotificationHubJob></content></entry>"
    }
}
