import ByteText
import ControlIO
import EditorialControl
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import NotificationHub

/// Makes proposals, and claims those that are approved. Calls block.
struct ProposalDesk {
    private let settings: Settings
    private let topic: String

    init(_ settings: Settings) {
        self.settings = settings
        topic = settings.control.topics.control
    }

    /// - Throws: an error if the control topic is missing or cannot be read.
    func view() throws(KafkaFailure) -> ControlView {
        let view = try ControlTable.view(settings)
        ControlTable.warn(of: view, topic)
        return view
    }

    /// Writes a proposal and prints its id.
    func propose(_ deed: Proposal.Deed, _ author: AuthorOptions, isJSON: Bool) throws {
        let (view, now) = (try view(), ServiceClock.wall)
        // Proposals that have lapsed are removed with the next one.
        for open in view.proposals.all where view.hasLapsed(open.proposal, at: now) { try end(open.proposal) }
        let proposal = Proposal(
            deed, by: author.author, reason: author.reason, at: now, logTime: view.signs.time)
        let record = ControlRecord.proposed(proposal).record(on: topic)
        guard (record.key ?? []).count + (record.value ?? []).count <= ControlRecord.sizeMax else {
            throw CommandFailure("not proposed: it is longer than \(ControlRecord.sizeMax) bytes")
        }
        try store(record)
        let line = JSONLine.object { json in
            json.field("proposed", proposal.id)
            json.field("until", now + Proposal.lasts)
        }
        try Terminal.standardOutput.line(isJSON ? line : proposal.id)
        notice(
            "proposed, and not done: another person approves it within \(Proposal.lasts.components.seconds / 60) minutes with "
                + "newswire approve \(proposal.id)")
    }

    /// Claims a proposal for this process. Afterwards nobody else can carry it out.
    ///
    /// - Throws: an error if somebody else has approved it, or if it is not known whether this claim counts.
    func claim(_ proposal: Proposal, by name: String) throws {
        let approval = Proposal.Approval(by: name, token: UUID().uuidString.lowercased())
        try store(ControlRecord.proposed(proposal, approval).record(on: topic))
        let proposals = try view().proposals
        let first = proposals[proposal.id]?.approval
        guard first == approval else {
            throw CommandFailure(
                (first?.by ?? proposals.approver(ofEnded: proposal.id)).map {
                    "\($0) has approved \(proposal.id) a moment before"
                } ?? "\(proposal.id) was carried out or rejected a moment before")
        }
        try end(proposal)
    }

    func end(_ proposal: Proposal) throws { try store(ControlRecord.proposalEnded(id: proposal.id).record(on: topic)) }

    private func store(_ record: ProducedRecord) throws { _ = try AuditWriter(settings).store(record) }
}

extension Proposal.Deed {
    /// The deed of the approved proposal that is being carried out; `nil` if a command runs without one.
    @TaskLocal static var approved: Proposal.Deed?
}

extension Settings {
    /// The group and its hub, as the effect of a proposal names its readers. Groups that share topics share proposals too, and nobody
    /// may approve one with the settings of another group. Names no secret.
    var ofHub: String {
        let group = kafkaSettings.group
        guard let connection = try? connection(), let hub = try? hub() else {
            return "of group \(group), whose hub the configuration does not name,"
        }
        return "of the hub \(hub) at \(connection.endpoint.authority.asciiLowercased) (group \(group))"
    }

    /// Returns true if the command must propose the act instead of carrying it out.
    func needsApproval(_ act: Proposal.Act) -> Bool { control.approval[act] && Proposal.Deed.approved == nil }
}
