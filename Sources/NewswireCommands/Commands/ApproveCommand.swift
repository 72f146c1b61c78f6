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
            id. Another person looks at the proposals and approves one by its id, which is a hash of the proposed command. \
            The command then runs here, with both names on the audit topic; one with --at has no line there. The \
            categories and their tags are those of the configuration here, so use that of the proposer; the list does \
            not show --language and --lane. A stop and a recall never need approval.

            Look at newswire control first: an approved resume ends the stop of the hub that is in force now, and an \
            approved replacement takes the place of the recall that is in force now, also if they are newer than the \
            proposal.

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
        try AuthorOptions.check(by, "--by", bytesMax: Instruction.byMax)
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
            throw CommandFailure("there is no proposal '\(id.prefix(40))'; newswire approve lists them")
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
        if proposal.act == .replace, let story = proposal.arguments.last,
            !view.isStanding(.recall(story: story), at: now)
        {
            throw CommandFailure("the recall of \(story) was lifted, so nothing is replaced")
        }
        let prepared = try command(proposal, names: "\(proposal.by), approved by \(name)")
        notice(Self.summary(proposal))
        try desk.claim(proposal, by: name)
        try await Approver.$current.withValue(name) {
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
        // What is sent later has no line on the audit topic.
        if !proposal.arguments.contains(where: { $0.hasPrefix("--at=") }) {
            options.append("--by=\(names.cut(toBytes: Instruction.byMax))")
            options += proposal.reason.map { ["--reason=\($0)"] } ?? []
        }
        if json { options.append("--json") }
        let command = try Self.parsed(proposal, options)
        guard Self.act(of: command) == proposal.act else {
            throw CommandFailure("\(proposal.id) is not a command that can be approved")
        }
        return command
    }

    private static func parsed(_ proposal: Proposal, _ options: [String]) throws -> any ParsableCommand {
        do {
            return try NewswireCommand.parseAsRoot(
                proposal.arguments.prefix(1) + options + proposal.arguments.dropFirst())
        } catch {
            throw CommandFailure("it cannot be carried out: \(NewswireCommand.message(for: error))")
        }
    }

    private static func act(of command: any ParsableCommand) -> Proposal.Act? {
        switch command {
        case let send as SendCommand: send.dryRun ? nil : .send
        case let recall as RecallCommand: recall.replace == nil || recall.lift ? nil : .replace
        case let resume as ResumeCommand: resume.gateArgument.gate == .hub ? .resumeHub : nil
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
            let (text, audience) = Self.content(proposal)
            try output.line(
                JSONLine.object { json in
                    json.field("id", proposal.id)
                    json.field("act", proposal.act.rawValue)
                    json.field("text", text)
                    json.field("audience", audience)
                    json.field("by", proposal.by)
                    json.field("reason", proposal.reason)
                    json.field("at", proposal.at)
                })
        }
    }

    private static func summary(_ proposal: Proposal) -> String {
        let (text, audience) = content(proposal)
        let words = text.map { " “\($0)”" } ?? ""
        let why = proposal.reason.map { ": \($0)" } ?? ""
        return "\(proposal.id)  \(audience)\(words)  (proposed by \(proposal.by) at \(proposal.at.short) UTC\(why))"
    }

    /// The text and the audience, read from the command that is carried out.
    private static func content(_ proposal: Proposal) -> (text: String?, audience: String) {
        // A recall cannot be read without a reason.
        switch try? parsed(proposal, proposal.act == .replace ? ["--reason=-"] : []) {
        case let send as SendCommand:
            let platforms = send.platform.isEmpty ? "" : " on \(send.platform.joined(separator: ", "))"
            let texts = [send.message] + send.headline.map { "\($0.headline.language): \($0.headline.text)" }
            let time = send.at.map { " at \($0.instant)" } ?? ""
            let despite = send.despiteStop ? ", despite stops" : ""
            return (
                texts.joined(separator: " / "),
                "send to the readers of \(send.category.joined(separator: ", "))\(platforms)\(time)\(despite):"
            )
        case let recall as RecallCommand:
            return (recall.replace, "replace \(recall.story) for the readers who have it:")
        case is ResumeCommand: return (nil, "resume the hub")
        default: return (nil, "what cannot be carried out any more")
        }
    }
}
