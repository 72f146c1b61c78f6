import ByteText
import EditorialControl
import NewsModel
import NotificationHub
import PublishEngine

/// The hub and the network before it.
extension SimulatedCluster {
    private struct Fate {
        var isAccepted = false
        /// `nil` if no reply arrives before the client's timeout.
        var reply: SendResult?
        var isQuick = false
    }

    mutating func arrive(_ flight: Flight) {
        let attempt = truth.attempts[flight.attempt]
        var random = SeededRandom(
            seed: scenario.seed, 6, truth.drawKey(of: attempt.delivery), truth.attemptsOf[attempt.delivery].count)
        let fate = fate(of: flight)
        if fate.isAccepted {
            truth.attempts[flight.attempt].isAccepted = true
            report.accepted += 1
            if truth.attemptsOf[attempt.delivery].contains(where: {
                $0 != flight.attempt && truth.attempts[$0].isAccepted
            }) {
                report.repeats += 1
            }
            record(.accepted(attempt: flight.attempt))
        }
        let deadline = attempt.sentAt + setting.requestTimeout
        var at = now + (fate.isQuick ? random.milliseconds(0...3) : random.milliseconds(1...40) + slowness())
        var reply = fate.reply ?? .unknown(SendFailure(.requestTimeout, "timeout"))
        if fate.reply == nil || at > deadline {
            at = max(deadline, now)
            reply = .unknown(SendFailure(.requestTimeout, "timeout"))
        }
        agenda.add(.reply(flight, reply), at: at)
    }

    mutating func reply(_ reply: SendResult, to flight: Flight) {
        truth.attempts[flight.attempt].reply = reply
        truth.attempts[flight.attempt].repliedAt = now
        if case .unknown = reply { truth.attempts[flight.attempt].metHalt = false }
        record(.replied(attempt: flight.attempt))
        feed(flight.address.process, .reply(reply, to: flight.request))
        // The shell looks once a second for a new date.
        guard case .replied = reply, now - processes[flight.address.process].heardHubAt >= .seconds(1) else { return }
        processes[flight.address.process].heardHubAt = now
        agenda.add(.hearHub(flight.address, now), at: now + .milliseconds(500))
    }

    /// The hub is asked for the time only; a hub that cannot be reached does not answer.
    mutating func askHub(_ address: Address) {
        let isAway = activeFaults.contains { fault in
            switch scenario.faults[fault].kind {
            case .badMinute(isUnreachable: true), .hub(.unreachable, _), .hub(.certificate, _): true
            default: false
            }
        }
        if !isAway { agenda.add(.hearHub(address, now), at: now + .milliseconds(20)) }
    }

    /// Replies have the time to the second. The shell ignores a date that it looks at after a standstill.
    mutating func hearHub(_ address: Address, _ date: Instant) {
        guard now - date < StandstillWatch.gapMin else { return }
        let date = Instant(nanoseconds: date.nanoseconds / 1_000_000_000 * 1_000_000_000)
        let time = Moment(steady: processes[address.process].moment(at: now).steady, wall: date)
        feed(address.process, .hubDate(date))
        tellControlState(.hubTime(time), address)
        tellHeldState(.hubTime(time), address)
    }

    private mutating func fate(of flight: Flight) -> Fate {
        let delivery = truth.attempts[flight.attempt].delivery
        for fault in activeFaults {
            var draw = SeededRandom(
                seed: scenario.seed, 7, truth.drawKey(of: delivery), truth.attemptsOf[delivery].count)
            switch scenario.faults[fault].kind {
            case .hub(let trouble, let share):
                guard draw.chance(percent: share),
                    let fate = fate(of: flight, in: trouble, since: scenario.faults[fault].at, &draw)
                else { continue }
                strike(fault, trouble.name)
                if trouble.concernsEveryone { truth.attempts[flight.attempt].metHalt = true }
                return fate
            case .badMinute(let isUnreachable):
                strike(fault, .badMinute)
                guard isUnreachable else { return Fate(reply: .replied(HubReply(status: 503))) }
                truth.attempts[flight.attempt].metHalt = true
                return Fate(reply: .notSent(SendFailure(.connectRefused, "refused")), isQuick: true)
            case .poison(let lane, let share):
                guard truth.news(of: delivery).lane == lane, draw.chance(percent: share) else { continue }
                strike(fault, .poison)
                return Fate(reply: .replied(HubReply(status: 400, detail: "bad payload")))
            default: continue
            }
        }
        if truth.news(of: delivery).kind == .refused {
            return Fate(reply: .replied(HubReply(status: 400, detail: "bad payload")))
        }
        return Fate(isAccepted: true, reply: .replied(HubReply(status: 201, notificationID: "n-\(flight.attempt)")))
    }

    private func fate(
        of flight: Flight, in trouble: HubFailure, since: Duration, _ draw: inout SeededRandom
    ) -> Fate? {
        func answer(_ status: Int, retryAfter: Int? = nil) -> Fate {
            Fate(reply: .replied(HubReply(status: status, retryAfter: retryAfter.map { .seconds($0) })))
        }
        let isGood = truth.news[truth.item(of: truth.attempts[flight.attempt].delivery)].kind != .refused
        switch trouble {
        case .replyLost: return Fate(isAccepted: isGood)
        case .resetBefore: return Fate(reply: .unknown(SendFailure(.reset, "reset")), isQuick: true)
        case .resetAfter: return Fate(isAccepted: isGood, reply: .unknown(SendFailure(.reset, "reset")))
        case .hang: return Fate()
        case .connectionLost: return Fate(reply: .notSent(SendFailure(.closedEarly, "closed")), isQuick: true)
        case .throttled(let retryAfter): return answer(429, retryAfter: retryAfter)
        case .quota(let retryAfter): return answer(403, retryAfter: retryAfter)
        case .busy(let retryAfter): return answer(503, retryAfter: retryAfter)
        case .serverError(let status):
            var fate = answer(status)
            fate.isAccepted = isGood && draw.chance(percent: 50)
            return fate
        case .tokenExpired: return flight.mintedAt < Scenario.start + since ? answer(401) : nil
        case .keyRefused: return answer(401)
        case .rightMissing: return answer(403)
        case .hubMissing: return answer(404)
        case .unreachable: return Fate(reply: .notSent(SendFailure(.connectRefused, "refused")), isQuick: true)
        case .certificate: return Fate(reply: .notSent(SendFailure(.tls, "expired")), isQuick: true)
        }
    }
}
