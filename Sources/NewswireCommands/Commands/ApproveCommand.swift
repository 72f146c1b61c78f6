import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings

struct ApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Shows and approves what another person has proposed.",
        discussion: """
            With control.approval, newswire send, recall --replace and resume hub do not act but propose, and print an \
            id. Another person looks at the proposals and approves one by its id, which is a hash of all of it: the text, \
            the readers, the tags, the platforms, the lane, and the stop or recall that it ends or replaces. The command \
            then runs here, with both names on the audit topic. It does not run if it would do anything else by now, or \
            by the configuration here. A stop and a recall never need approval.

            A proposal lapses after 10 minutes, and is carried out once, even if several people approve it. If the \
            command fails after that, it must be proposed again.

            Examples:
              newswire approve
              newswire approve 3f9a0c17d2b4
              newswire approve 3f9a0c17d2b4 --reject

            Names are self-reported, as in all orders: the ACL of the control topic decides who may write.

            Exit code 1 if there is no such proposal, if it has lapsed, if its proposer approves it, or if the command \
            fails; otherwise that of the command.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Argument(help: .init("The proposal; without it all are listed.", valueName: "id")) var id: String?
    @Option(help: .init("Who approves; by default user@host.", valueName: "name")) var by: String?
    @Flag(help: "Reject the proposal instead.") var reject = false
    @Flag(help: "Print JSON objects, for programs.") var json = false

    func validate() throws {
        try AuthorOptions.check(by: by)
        if reject, id == nil { throw ValidationError("Name the proposal to reject.") }
    }

    func run() async throws {
        let settings = try configurationOption.settings()
        let desk = ProposalDesk(settings)
        let (view, now) = (try desk.view(), ServiceClock.wall)
        guard let id else {
            return try list(view.proposals.all.filter { $0.approval == nil && !view.hasLapsed($0.proposal, at: now) })
        }
        guard let open = view.proposals[id.lowercased()] else {
            let approver = view.proposals.approver(ofEnded: id.lowercased())
            throw CommandFailure(
                approver.map { "\($0) has approved \(id)" }
                    ?? "there is no proposal '\(id.prefix(40))'; newswire approve lists them")
        }
        let proposal = open.proposal
        if let approval = open.approval {
            throw CommandFailure("\(approval.by) has approved \(id); if nothing happened, propose it again")
        }
        if reject {
            try desk.end(proposal)
            return notice("\(id) is rejected")
        }
        guard !view.hasLapsed(proposal, at: now) else {
            throw CommandFailure("\(id) has lapsed, because nobody approved it in 10 minutes; propose it again")
        }
        let name = by ?? AuthorOptions.caller
        guard !proposal.isFrom(name) else {
            throw CommandFailure(
                "\(proposal.by) has proposed it, so another person must approve it; --by says who you are")
        }
        let prepared = try command(proposal, names: "\(proposal.by), approved by \(name)")
        let deed = try Self.deed(of: prepared, settings, view)
        guard deed == proposal.deed else {
            throw CommandFailure(
                "\(id) is not carried out, because by now, or by the configuration here, it would \(deed?.effect ?? "do nothing"), "
                    + "and not \(proposal.deed.effect). Use the proposer's configuration, or propose it again")
        }
        if let send = prepared as? SendCommand { try send.checkTopics(settings) }
        notice(Self.summary(proposal))
        try desk.claim(proposal, by: name)
        try await Proposal.Deed.$approved.withValue(deed) {
            var command = prepared
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        }
    }

    /// The proposed command with the approver's configuration.
    private func command(_ proposal: Proposal, names: String) throws -> any ParsableCommand {
        var options = configurationOption.config.map { ["--config=\($0)"] } ?? []
        options.append("--by=\(names.cut(toBytes: Instruction.byMax))")
        options += proposal.reason.map { ["--reason=\($0)"] } ?? []
        if json { options.append("--json") }
        return try Self.parsed(proposal, options)
    }

    private static func parsed(_ proposal: Proposal, _ options: [String]) throws -> any ParsableCommand {
        do {
            return try NewswireCommand.parseAsRoot(
                proposal.deed.arguments.prefix(1) + options + proposal.deed.arguments.dropFirst())
        } catch {
            throw CommandFailure("it cannot be carried out: \(NewswireCommand.message(for: error))")
        }
    }

    /// The deed that the command would propose now, by these settings; `nil` for one that needs no approval.
    private static func deed(
        of command: any ParsableCommand, _ settings: Settings, _ view: ControlView
    ) throws -> Proposal.Deed? {
        switch command {
        case let send as SendCommand: try send.deed(settings)
        case let recall as RecallCommand:
            try recall.replace.map { try RecallCommand.deed($0, of: recall.story, settings, view) }
        case is ResumeCommand: try ResumeCommand.deed(view)
        default: nil
        }
    }

    // MARK: What is approved

    private func list(_ proposals: [Proposals.Open]) throws {
        let output = Terminal.standardOutput
        if proposals.isEmpty, !json { return try output.line("nothing waits for approval") }
        for proposal in proposals.map(\.proposal) {
            guard json else {
                try output.line(Self.summary(proposal).plain)
                continue
            }
            try output.line(
                JSONLine.object { json in
                    json.field("id", proposal.id)
                    json.field("act", proposal.deed.act.rawValue)
                    json.field("text", proposal.deed.text)
                    json.field("effect", proposal.deed.effect)
                    json.field("by", proposal.by)
                    json.field("reason", proposal.reason)
                    json.field("at", proposal.at)
                })
        }
    }

    private static func summary(_ proposal: Proposal) -> String {
        let words = proposal.deed.text.map { ": “\($0)”" } ?? ""
        let why = proposal.reason.map { ": \($0)" } ?? ""
        let author = "(proposed by \(proposal.by) at \(proposal.at.short) UTC\(why))"
        return "\(proposal.id)  \(proposal.deed.effect)\(words)  \(author)"
    }
}
