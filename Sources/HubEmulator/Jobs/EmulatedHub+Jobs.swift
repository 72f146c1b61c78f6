import ByteText
import NotificationHub

extension EmulatedHub {
    /// The most jobs kept; the oldest finished one is dropped first.
    static let jobsMax = 100
    /// The most jobs that may wait or run at a time.
    static let unfinishedJobsMax = 10
    /// The bytes after which a job yields, because calls wait while it runs.
    private static let turnBytes = 65_536

    /// `POST /jobs`: submits a job.
    mutating func submitJob(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try requireStandard("A job")
        guard jobs.count(where: { !$0.status.isFinal }) < Self.unfinishedJobsMax else {
            throw .forbidden("The quota of \(Self.unfinishedJobsMax) unfinished jobs is exceeded")
        }
        var job = try RegistrationJob(context.request.body, id: jobID(at: context.now), at: context.now)
        job.host = StorageHost(context.request)
        if jobs.count == Self.jobsMax, let old = jobs.firstIndex(where: \.status.isFinal) { jobs.remove(at: old) }
        jobs.append(job)
        let address = location(context, "jobs/\(job.id)")
        let body = job.entry(hub: settings.name, address: address.value)
        return reply(201, [address], contentType: RegistrationXML.entryType, body: Array(body.utf8))
    }

    /// `GET /jobs/{id}`. The service names the job twice in its address.
    mutating func readJob(_ id: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try requireStandard("A job")
        guard let job = jobs.first(where: { $0.id == id }) else { throw .notFound("The job was not found") }
        let address = location(context, "jobs/\(id)/\(id)").value
        let body = job.entry(hub: settings.name, address: address)
        return reply(
            200, [HeaderField("Content-Location", address)], contentType: RegistrationXML.entryType,
            body: Array(body.utf8))
    }

    /// `GET /jobs`: lists all jobs.
    mutating func listJobs(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try requireStandard("A job")
        let url = XMLText.escaped(location(context, "jobs").value)
        var out = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">Jobs</title><id>\(url)</id>"
        out += "<updated>\(context.now.iso())</updated><link rel=\"self\" href=\"\(url)\"/>"
        for job in jobs {
            let address = location(context, "jobs/\(job.id)").value
            out += job.entry(hub: settings.name, address: address, isListed: true)
        }
        return reply(200, contentType: RegistrationXML.feedType, body: Array((out + "</feed>").utf8))
    }

    /// A job id in the service's form: the time until the year 10000 in units of 100 ns, and a GUID.
    private mutating func jobID(at now: HubTime) -> String {
        let left = max(0, HubTime.never.millisecondsSince(now))
        return "\(left.multipliedReportingOverflow(by: 10_000).partialValue)\(trackingID())"
    }

    // MARK: Running

    /// True when a job waits or runs.
    var hasJob: Bool { jobs.contains { !$0.status.isFinal } }

    var isRunningJob: Bool { jobs.contains { $0.status == .running } }

    /// Continues the oldest unfinished job.
    /// - Parameters:
    ///   - limit: the most registrations to process.
    ///   - read: returns the import file at an address, or `nil` if it cannot be read.
    ///   - mayWrite: true if output may be written to an address.
    /// - Returns: the files of a completed job.
    mutating func runJob(
        limit: Int, at now: HubTime, read: (String) -> [UInt8]?, mayWrite: (String) -> Bool
    ) -> [(name: String, bytes: [UInt8])] {
        guard let index = jobs.firstIndex(where: { !$0.status.isFinal }) else { return [] }
        // The job is removed from the array, so that its long texts grow in place.
        var job = jobs.remove(at: index)
        defer { jobs.insert(job, at: index) }
        job.updated = now
        if job.status == .started {
            job.status = .running
            guard job.isHere(job.outputContainer), mayWrite(job.outputContainer) else {
                job.fail("The output container is not one of this emulator that may be written")
                return []
            }
            if let file = job.importFile, job.kind != .export {
                guard job.isHere(file), let input = read(file) else {
                    job.fail("The import file is not at this emulator's storage address, or may not be read")
                    return []
                }
                job.input = input
            }
        }
        let isDone = job.kind == .export ? exportSome(limit, &job) : importSome(limit, &job)
        guard job.output.count + job.failed.count <= BlobStore.blobLengthMax else {
            job.fail("The output exceeds \(BlobStore.blobLengthMax) bytes")
            return []
        }
        guard isDone else { return [] }
        (job.status, job.progress) = (.completed, 100)
        defer { job.forget() }
        return [
            (job.path(hub: settings.name, file: "Output.txt"), job.output),
            (job.path(hub: settings.name, file: "Failed.txt"), job.failed),
        ]
    }

    /// Fails the job that made a file which could not be stored.
    mutating func failJob(writing name: String, at now: HubTime) {
        guard let index = jobs.firstIndex(where: { name.contains("/\($0.id)/") }) else { return }
        jobs[index].fail("The storage is full; delete blobs")
        jobs[index].updated = now
    }

    /// One registration per line, in the form that an import reads.
    private func exportSome(_ limit: Int, _ job: inout RegistrationJob) -> Bool {
        let start = UInt32(clamping: job.position)
        let slots = registrations.slots(from: start, limit: max(1, limit))
        let end = job.output.count + Self.turnBytes
        for slot in slots {
            guard job.output.count < end else { return false }
            job.position = Int(slot) + 1
            guard let registration = registrations[slot] else { continue }
            job.output += line(registration).utf8
            job.output.append(UInt8(ascii: "\n"))
        }
        return slots.count < max(1, limit)
    }

    /// Imports registrations, one from each line. Each line of the output has a line number and the stored
    /// registration; each line of the failures has a line number and the reason.
    private mutating func importSome(_ limit: Int, _ job: inout RegistrationJob) -> Bool {
        var left = max(1, limit)
        let turnEnd = job.position + Self.turnBytes
        while job.position < min(turnEnd, job.input.count), left > 0 {
            left -= 1
            let rest = job.input[job.position...]
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            job.position = end + 1
            job.line += 1
            let line = rest[..<end]
            guard line.contains(where: { $0 > 32 }) else { continue }
            do throws(Refusal) {
                let registration = try perform(job.kind, Array(line))
                job.output += "\(job.line),\(self.line(registration))\n".utf8
            } catch {
                job.failed += "\(job.line),\(error.message ?? "")\n".utf8
            }
        }
        job.progress = job.input.isEmpty ? 100 : min(100, job.position * 100 / job.input.count)
        return job.position >= job.input.count
    }

    private mutating func perform(_ kind: RegistrationJob.Kind, _ line: [UInt8]) throws(Refusal) -> Registration {
        guard line.count <= SendRequest.bodyLengthMax else { throw .badRequest("The line exceeds 64 KB") }
        let root = try XMLElement(body: line)
        let named = root.child("RegistrationId")?.text.trimmed ?? ""
        let id = RegistrationID(String(named))
        guard named.isEmpty || id != nil else { throw .badRequest("The RegistrationId is malformed") }
        let known = id.flatMap { registrations.slot($0) }
        switch kind {
        case .update, .delete:
            guard known != nil else { throw .notFound("There is no such registration") }
        case .upsert:
            guard id != nil else { throw .badRequest("An upsert needs a RegistrationId") }
        case .create, .export: break
        }
        if kind == .delete, let known, let registration = registrations[known] {
            removeRegistration(known)
            return registration
        }
        if known == nil || kind == .create { try checkQuota() }
        let old = kind == .create ? nil : known.flatMap { registrations.withoutTags($0) }
        let own = kind == .create ? RegistrationID(using: &random) : id ?? RegistrationID(using: &random)
        var registration = try RegistrationXML.read(
            root, id: own, tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
        registration.etag = (old?.etag ?? 0) &+ 1
        store(registration)
        return registration
    }

    /// A registration on one line. Line breaks become blanks, which are equivalent in templates of JSON or XML.
    private func line(_ registration: Registration) -> String {
        String(
            RegistrationXML(era: settings.era, place: .read).description(registration)
                .map { $0.isNewline ? " " : $0 })
    }
}

extension RegistrationJob {
    fileprivate mutating func fail(_ reason: String) {
        (status, failure) = (.failed, reason)
        forget()
    }

    /// Releases the memory that only a running job needs.
    fileprivate mutating func forget() { (input, output, failed) = ([], [], []) }
}
