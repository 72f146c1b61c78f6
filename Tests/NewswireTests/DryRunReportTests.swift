import Backfill
import NewswireCommands
import Testing

/// The cost of a dry run, and its report for people and programs.
struct DryRunReportTests {
    private func report(_ counts: [[String]: Int], _ audience: [String: Int]) -> DryRunReport {
        var tally = DryRunTally()
        tally.categories = counts
        tally.events = counts.values.reduce(0, +)
        let estimate = PushEstimate(
            tally, categories: ["World", "Sports"], audience: audience, prices: .standard(.standard))
        return DryRunReport(
            tally: tally, estimate: estimate, categories: ["World", "Sports"], takes: .milliseconds(1_500),
            partitions: 12, samples: [])
    }

    @Test func `a large cost comes first in the report`() {
        let report = report([["World"]: 5_000_000], ["World": 100_000])
        let first = report.text(hasColours: false).split(separator: "\n").first
        #expect(
            first
                == "COST: 1,250,650.00 US dollars for 500,000,000,000 pushes (tier standard, prices of 2026-11, beside the 200.00 US dollars of the month)"
        )
    }

    @Test func `a small cost follows the counts`() {
        let lines = report([["World"]: 2, ["World", "Sports"]: 1], ["World": 100, "Sports": 10])
            .text(hasColours: false).split(separator: "\n")
        #expect(lines.first == "3 events")
        #expect(lines.last?.hasPrefix("cost: 0.00 US dollars for 310 pushes (") == true, "\(lines)")
    }

    @Test func `without an audience the cost is unknown, and examples are shown`() {
        let report = report([["World"]: 5_000_000, ["Sports"]: 1], ["World": 100_000])
        #expect(report.estimate.unknown == ["Sports"])
        #expect(report.estimate.pushes == nil && report.estimate.cost == nil)
        let first = report.text(hasColours: false).split(separator: "\n").first
        #expect(
            first?.hasPrefix("COST: unknown without the number of devices (--audience Sports=120000): 13,150.00")
                == true)
        #expect(first?.contains("with 1,000 devices in every category, 1,250,650.25 US dollars with 100,000") == true)
    }

    @Test func `programs get one object with the names of the contract, in their order`() throws {
        #expect(
            report([["World"]: 2, ["World", "Sports"]: 1], ["World": 100, "Sports": 10_000_000]).json
                == #"{"events":3,"bad":0,"duplicates":0,"unroutable":0,"expired":0,"categories":{"World":3,"Sports":1},"seconds":2,"pushes":10000300,"cost":0.003,"accepted":0,"held":0,"withheld":0,"superseded":0,"canceled":0,"expiredWaiting":0,"mayBeOvertaken":0,"repeats":0,"tests":0,"personal":0,"skipped":0,"partitions":12}"#
        )
        #expect(report([["World"]: 1], [:]).json.contains(#""seconds":2,"pushes":null,"cost":null,"#))
    }
}
