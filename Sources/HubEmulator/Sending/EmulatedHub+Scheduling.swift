import ByteText
import NotificationHub

extension EmulatedHub {
    /// The most scheduled sends that may wait.
    private static let scheduledMax = 10_000

    /// `POST /schedulednotifications`: 5 minutes to 7 days ahead, Standard tier.
    mutating func schedule(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try requireStandard("A scheduled notification")
        try throttle(context)
        guard let text = context.request.headers["ServiceBusNotification-ScheduleTime"],
            let due = HubTime(clientText: text.trimmed)
        else { throw .badRequest("ServiceBusNotification-ScheduleTime must be a time such as 2026-01-31T18:00:00") }
        let ahead = due.millisecondsSince(context.now)
        guard ahead >= 5 * 60_000, ahead <= 7 * 86_400_000 else {
            throw .badRequest("ServiceBusNotification-ScheduleTime must be 5 minutes to 7 days ahead")
        }
        guard scheduled.count < Self.scheduledMax,
            scheduled.reduce(0, { $0 + $1.submission.weight }) < settings.pendingBytesMax
        else {
            throw .forbidden("The quota of scheduled notifications is exceeded")
        }
        var submission = try taggedSubmission(context, kind: .scheduled)
        submission.due = due
        // No newer form of these ids was recorded.
        let id =
            notificationID(at: context.now, era: .year2018).split(separator: "-").joined(separator: "_") + "_QNHQueue"
        let number = log(submission, id: id, context, state: .scheduled)
        wait(FanOut(number: number, id: id, submission: submission))
        return reply(201, [location(context, "schedulednotifications/\(id)")])
    }

    /// Inserts a send, ordered by due time, then by arrival.
    mutating func wait(_ send: FanOut) {
        scheduled.insert(send, at: scheduled.firstIndex { $0.due > send.due } ?? scheduled.count)
    }

    /// `DELETE /schedulednotifications/{id}`: cancels a scheduled send.
    mutating func cancelScheduled(_ id: String) throws(Refusal) -> HubHTTPResponse {
        guard let index = scheduled.firstIndex(where: { $0.id == id }) else {
            throw .notFound("The scheduled notification was not found")
        }
        let canceled = scheduled.remove(at: index)
        if var message = received[canceled.number], message.id == id {
            message.telemetry.state = .canceled
            received[canceled.number] = message
            record(.message(message))
        }
        return reply(200)
    }

    mutating func startScheduled(at now: HubTime) {
        while let due = scheduled.first?.due, due <= now { fanOuts.append(scheduled.removeFirst()) }
    }
}
