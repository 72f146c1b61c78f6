import ControlIO
import EditorialControl
import KafkaIO
import Logging
import NewsModel
import PublishEngine

/// The publisher's use of the held topic, which keeps events until they are due.
extension Publisher {
    /// Events that are due later than this go to the held topic. The others wait in their lane's window.
    package static let holdsBeyond = Duration.seconds(60)

    /// Handles a notice on the link's thread.
    ///
    /// - Parameter tell: passes an input to every engine of the process.
    func receive(_ notice: HeldLink.Notice, _ control: ControlLink, tell: (Input) -> Void) {
        let topic = settings.control.topics.held
        switch notice {
        case .held(let stories): tell(.held(stories))
        case .isThere:
            tell(.holdsBeyond(Self.holdsBeyond))
            // Events that have waited in memory go to the topic too.
            tell(.held([]))
            guard metrics.heldTopicIsThere() else { return }
            log.info("events wait for their time on the held topic", metadata: ["topic": "\(topic)"])
        case .isAway(let failure):
            tell(.holdsBeyond(nil))
            if !HeldTopicState.isMissing(failure) { metrics.failed(failure) }
            // A warning at start has already reported a topic that never existed.
            guard metrics.heldTopicIsAway(failure, at: metrics.clock.now.steady) else { return }
            log.warning(
                "the held topic is away: what is under embargo waits in memory, up to a bound",
                metadata: ["topic": "\(topic)", "failure": "\(failure)"])
        case .failed(let failure):
            metrics.failed(failure)
            log.error("held topic", metadata: ["failure": "\(failure)"])
        case .status(let status):
            metrics.held(status)
            control.post(.held(status.totals))
        case .vanished(let restored, let lost):
            if restored > 0 {
                log.warning(
                    "held events vanished from their topic; they are back on their lanes, and are held again, sent or ended there",
                    metadata: ["topic": "\(topic)", "restored": "\(restored)"])
            }
            guard lost > 0 else { return }
            log.error(
                "held events are lost: their topic was deleted, and no process has written them again, or their originals are gone",
                metadata: [
                    "topic": "\(topic)", "lost": "\(lost)",
                    "remedy": "newswire results --outcome held names what was held; have it published again",
                ])
        }
    }
}
