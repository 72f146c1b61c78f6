import KafkaModel
import NewsModel
import Testing

@testable import EditorialControl

@Suite struct ProposalTests {
    private static let at = Instant(milliseconds: 1_795_255_200_000)

    private func proposal(_ text: String = "Polls close", logTime: Duration? = nil) -> Proposal {
        Proposal(
            Proposal.Deed(
                .send, arguments: ["send", "--message=\(text)"], effect: "send to the readers of World", text: text,
                order: "o"),
            by: "anna@desk1", reason: nil, at: Self.at, logTime: logTime)
    }

    private func view(_ records: ControlRecord...) -> ControlView {
        var view = ControlView()
        for (offset, record) in records.enumerated() {
            view.apply(SourceRecord(offset: Int64(offset), key: Array(record.key.utf8), value: record.value))
        }
        return view
    }

    @Test func `a proposal is read as it was written, under an id that depends on all of it`() throws {
        let proposal = proposal("Größe “m” \u{1F600}", logTime: .seconds(7))
        let read = try #require(view(.proposed(proposal)).proposals[proposal.id])
        #expect(read.proposal == proposal && read.approval == nil)
        #expect(proposal.id != self.proposal("Größe “m” \u{1F600}").id)
        #expect(proposal.id.count == 12)
        for change in [\Proposal.deed.effect, \.by] {
            var other = proposal
            other[keyPath: change] += "x"
            #expect(other.id != proposal.id)
        }
        var other = proposal
        other.deed.order = nil
        #expect(other.id != proposal.id)
    }

    @Test func `a proposal under another id is refused`() {
        let record = ControlRecord.proposed(proposal())
        let forged = SourceRecord(offset: 0, key: Array("proposal/0123456789ab".utf8), value: record.value)
        #expect(ControlRecord.read(forged).fault == .value)
    }

    @Test func `of two approvals, the first one counts`() {
        let proposal = proposal()
        let approvals = ["ben", "cem"].map { Proposal.Approval(by: $0, token: $0) }
        let view = view(
            .proposed(proposal), .proposed(proposal, approvals[0]), .proposed(proposal, approvals[1]))
        #expect(view.proposals[proposal.id]?.approval == approvals[0])
    }

    @Test func `a proposal ends with its tombstone, and a later approval counts for nothing`() {
        let late = ControlRecord.proposed(proposal(), .init(by: "cem", token: "cem"))
        let ended = view(.proposed(proposal()), .proposalEnded(id: proposal().id), late)
        #expect(ended.proposals.all.isEmpty && ended.proposals.approver(ofEnded: proposal().id) == nil)
        let carriedOut = view(.proposed(proposal()), late, .proposalEnded(id: proposal().id))
        #expect(carriedOut.proposals.approver(ofEnded: proposal().id) == "cem")
    }

    @Test func `a proposal lapses by the time of the log, whatever the clock shows`() {
        let proposal = proposal(logTime: .seconds(100))
        func beat(_ seconds: Int) -> ControlRecord {
            .beat(.init(replica: "a", at: Self.at, logTime: .seconds(seconds)))
        }
        #expect(!view(beat(700)).hasLapsed(proposal, at: Self.at + .seconds(7_200)))
        #expect(view(beat(701)).hasLapsed(proposal, at: Self.at))
        #expect(view().hasLapsed(proposal, at: Self.at + .seconds(601)))
        #expect(!view().hasLapsed(proposal, at: Self.at + .seconds(600)))
    }

    @Test func `a person is recognized at another machine`() {
        #expect(["anna", "Anna@desk2", "anna @x", "an\u{200D}na", "anna@\u{301}"].allSatisfy(proposal().isFrom))
        #expect(!proposal().isFrom("hanna@desk1"))
    }

    @Test func `processes ignore proposals`() {
        var state = TestControlState()
        state.write(.proposed(proposal()))
        state.start()
        #expect(state.isKnown && state.recalled.isEmpty)
    }
}
