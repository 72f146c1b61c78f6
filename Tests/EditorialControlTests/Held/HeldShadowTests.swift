import ByteText
import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// Compares the state with a plain dictionary of the same events.
@Suite struct HeldShadowTests {
    @Test(arguments: 0..<20) func `the state agrees with a plain dictionary whatever the order of records`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var play = PlayedHeldState(owning: [])
        var shadow: [String: Duration] = [:]
        for offset in 0..<3_000 {
            let story = "s\(UInt64.random(in: 0..<200, using: &random))"
            if Bool.random(using: &random) {
                let due = Duration.seconds(Int64.random(in: 1...1_000, using: &random))
                _ = play.hold(Int64(offset), story, due: due)
                shadow[story] = due
            } else {
                _ = play.read(Int64(offset), .erased(story: story, upTo: nil))
                shadow[story] = nil
            }
        }
        #expect(play.state.count == shadow.count)
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source]))
        #expect(play.state.ours == shadow.count)
        for time in stride(from: 1, through: 1_000, by: 1) {
            let due = play.wait(.seconds(1)).returns
            #expect(due.count == shadow.values.count { $0 == .seconds(time) })
            _ = play.take(.ended(due.keys.map { .gone(HeldPlace(3, $0)) }))
        }
        #expect(play.state.count == 0)
    }
}
