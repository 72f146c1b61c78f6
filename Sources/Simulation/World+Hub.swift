import NewsModel
import NotificationHub
import PublishEngine

/// The hub and the way there.
extension World {
    /// What becomes of one request.
    private struct Fate {
        var isAccepted = false
        /// `nil`: nothing comes back before the client gives up.
        var reply: Reply?
        var isQuick = false
    }

    mutating func arrive(_ flight: Flight) {
        let attempt = books.attempts[flight.attempt]
        var random = SeededRandom(
            seed: life.seed, 6, books.luck(of: attempt.delivery), books.attemptsOf[attempt.delivery].count)
        let fate = fate(of: flight)
        if fate.isAccepted {
            books.attempts[flight.attempt].isAccepted = true
            report.accepted += 1
            if books.attemptsOf[attempt.delivery].contains(where: {
                $0 != flight.attempt && books.attempts[$0].isAccepted
            }) {
                report.repeats += 1
            }
            tell(.accepted(attempt: flight.attempt))
        }
        let deadline = attempt.sentAt + life.setting.requestTimeout
        var at = now + (fate.isQuick ? random.milliseconds(0...3) : random.milliseconds(1...40) + slowness)
        var reply = fate.reply ?? .unanswered(detail: "timeout")
        if fate.reply == nil || at > deadline {
            at = max(deadline, now)
            reply = .unanswered(detail: "timeout")
        }
        agenda.add(.reply(flight, reply), at: at)
    }

    mutating func reply(_ reply: Reply, to flight: Flight) {
        books.attempts[flight.attempt].reply = reply
        if case .unanswered = reply { books.attempts[flight.attempt].metHalt = false }
        tell(.replied(attempt: flight.attempt))
        feed(flight.address.process, .reply(token: flight.token, reply))
    }

    private mutating func fate(of flight: Flight) -> Fate {
        for spell in spells {
            guard case .hub(let trouble, let share) = life.faults[spell].kind else { continue }
            let delivery = books.attempts[flight.attempt].delivery
            var luck = SeededRandom(
                seed: life.seed, 7, books.luck(of: delivery), books.attemptsOf[delivery].count)
            guard luck.chance(percent: share) else { continue }
            guard let fate = fate(of: flight, in: trouble, since: life.faults[spell].at, &luck) else { continue }
            if trouble.concernsEveryone { books.attempts[flight.attempt].metHalt = true }
            return fate
        }
        if life.news[books.item(of: books.attempts[flight.attempt].delivery)].kind == .refused {
            return Fate(reply: .replied(HubReply(status: 400, detail: "bad payload")))
        }
        return Fate(isAccepted: true, reply: .replied(HubReply(status: 201, notificationID: "n-\(flight.attempt)")))
    }

    private func fate(
        of flight: Flight, in trouble: HubTrouble, since: Duration, _ luck: inout SeededRandom
    ) -> Fate? {
        func answer(_ status: Int, retryAfter: Int? = nil) -> Fate {
            Fate(reply: .replied(HubReply(status: status, retryAfter: retryAfter.map { .seconds($0) })))
        }
        let isGood = life.news[books.item(of: books.attempts[flight.attempt].delivery)].kind != .refused
        switch trouble {
        case .replyLost: return Fate(isAccepted: isGood)
        case .resetBefore: return Fate(reply: .unanswered(detail: "reset"), isQuick: true)
        case .resetAfter: return Fate(isAccepted: isGood, reply: .unanswered(detail: "reset"))
        case .hang: return Fate()
        case .connectionLost: return Fate(reply: .notSent(.connectionLost, detail: "closed"), isQuick: true)
        case .throttled(let retryAfter): return answer(429, retryAfter: retryAfter)
        case .quota(let retryAfter): return answer(403, retryAfter: retryAfter)
        case .busy(let retryAfter): return answer(503, retryAfter: retryAfter)
        case .serverError(let status):
            var fate = answer(status)
            fate.isAccepted = isGood && luck.chance(percent: 50)
            return fate
        case .tokenExpired: return flight.mintedAt < Life.start + since ? answer(401) : nil
        case .keyRefused: return answer(401)
        case .rightMissing: return answer(403)
        case .hubMissing: return answer(404)
        case .unreachable: return Fate(reply: .notSent(.unreachable, detail: "refused"), isQuick: true)
        case .certificate: return Fate(reply: .notSent(.certificate, detail: "expired"), isQuick: true)
        }
    }
}
