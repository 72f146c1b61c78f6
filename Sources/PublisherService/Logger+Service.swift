import Logging
import NewsModel
import PublishEngine

/// The lines that say what becomes of the news.
extension Logger {
    func settled(_ result: ResultRecord) {
        debug(
            "delivery settled",
            metadata: [
                "outcome": "\(result.outcome.rawValue)", "event": "\(result.eventID ?? "")",
                "platform": "\(result.platform.rawValue)", "lane": "\(result.lane)", "source": "\(result.source)",
                "attempts": "\(result.attempts)", "code": "\(result.error?.code ?? "")",
            ])
    }

    /// - Parameter halt: `nil` when it is over.
    func halt(_ halt: Halt?) {
        guard let halt else {
            notice("sending again")
            return
        }
        let (reason, remedy) = (halt.reason.rawValue, halt.reason.remedy)
        error(
            "sending halted",
            metadata: ["reason": "\(reason)", "detail": "\(halt.detail)", "remedy": "\(remedy)"])
    }
}
