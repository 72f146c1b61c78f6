import ByteText
import EditorialControl
import HubModel
import NewsModel
import NotificationHub
import PublishEngine

/// The hub reads requests, decides about each of them and answers.
extension SimulatedCluster {
    private struct Fate {
        var isAccepted = false
        var answer: Answer?

        /// The end of a request that the hub has read; `nil` if it never answers.
        enum Answer {
            case reply(HubReply)
            /// The stream ends without a reply or, over HTTP/1.1, the connection.
            case reset
            /// The hub closes the connection before it reads the request.
            case close
            /// The hub does not process the request, and says so.
            case refuse
        }

        /// True if the hub has read the request and does not say that it ignored it.
        var isProcessed: Bool {
            switch answer {
            case .close, .refuse: false
            case .reply(let reply): reply.status != 421
            case .reset, nil: true
            }
        }
    }

    mutating func arrive(_ flight: Flight) {
        if let until = silence(of: flight.address.process) { return agenda.add(.arrive(flight), at: until) }
        // A connection that the process has closed may still carry what was sent before.
        let connection = processes[flight.address.process].connections[flight.connection].flatMap {
            $0.number == flight.number ? $0 : nil
        }
        guard !finished.contains(flight.number) else { return }
        let isHTTP2 = connection?.http == .http2
        let fate = fate(of: flight, isHTTP2: isHTTP2)
        if fate.isProcessed {
            if connection != nil {
                processes[flight.address.process].connections[flight.connection]?.processed.insert(flight.write)
            }
            record(.processed(attempt: flight.attempt))
        }
        if fate.isAccepted { accept(flight.attempt) }
        answer(flight, fate, isHTTP2: isHTTP2)
    }

    private mutating func accept(_ number: Int) {
        truth.attempts[number].isAccepted = true
        report.accepted += 1
        let others = truth.attemptsOf[truth.attempts[number].delivery]
        let tags = truth.attempts[number].tags
        let isRepeat = others.contains {
            $0 != number && truth.attempts[$0].isAccepted && truth.attempts[$0].tags == tags
        }
        if isRepeat { report.repeats += 1 }
        record(.accepted(attempt: number))
    }

    private mutating func answer(_ flight: Flight, _ fate: Fate, isHTTP2: Bool) {
        let delivery = truth.attempts[flight.attempt].delivery
        var draw = SeededRandom(
            seed: scenario.seed, 6, truth.drawKey(of: delivery), truth.attemptsOf[delivery].count)
        let time = draw.milliseconds(1...40) + slowness()
        let failure = SendFailure(.reset, "reset")
        switch fate.answer {
        case nil: break
        case .reply(let reply):
            let keepsAlive = isHTTP2 || !draw.chance(percent: 4)
            tell(flight, .replied(flight, reply, keepsAlive: keepsAlive), after: time)
        case .refuse: tell(flight, .streamRefused(flight), after: draw.milliseconds(0...3))
        case .reset where isHTTP2 && draw.chance(percent: 50):
            tell(flight, .streamEnded(flight, failure), after: time)
        case .reset, .close:
            guard processes[flight.address.process].connections[flight.connection]?.number == flight.number else {
                return
            }
            end(flight.connection, flight.address, failure)
        }
    }

    private mutating func tell(_ flight: Flight, _ event: ConnectionEvent, after delay: Duration) {
        agenda.add(.connection(flight.address, flight.connection, number: flight.number, event), at: now + delay)
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
        processes[address.process].awaitsTime = false
        feed(address.process, .hubDate(date))
        tellControlState(.hubTime(time), address)
        tellHeldState(.hubTime(time), address)
    }

    private mutating func fate(of flight: Flight, isHTTP2: Bool) -> Fate {
        let delivery = truth.attempts[flight.attempt].delivery
        for fault in activeFaults {
            var draw = SeededRandom(
                seed: scenario.seed, 7, truth.drawKey(of: delivery), truth.attemptsOf[delivery].count)
            switch scenario.faults[fault].kind {
            case .hub(let trouble, let share):
                guard draw.chance(percent: share),
                    let fate = fate(of: flight, in: trouble, since: scenario.faults[fault].at, isHTTP2, &draw)
                else { continue }
                strike(fault, trouble.name)
                // A packet that was delayed may arrive after its process has given up the request.
                if trouble.concernsEveryone, truth.attempts[flight.attempt].reply == nil {
                    truth.attempts[flight.attempt].metHalt = true
                }
                return fate
            case .badMinute(let isUnreachable):
                strike(fault, .badMinute)
                return isUnreachable ? Fate(answer: .close) : Fate(answer: .reply(HubReply(status: 503)))
            case .poison(let lane, let share):
                guard truth.news(of: delivery).lane == lane, draw.chance(percent: share) else { continue }
                strike(fault, .poison)
                return Fate(answer: .reply(HubReply(status: 400, detail: "bad payload")))
            default: continue
            }
        }
        if truth.news(of: delivery).isRefused(on: truth.platform(of: delivery)) {
            return Fate(answer: .reply(HubReply(status: 400, detail: "bad payload")))
        }
        return Fate(
            isAccepted: true, answer: .reply(HubReply(status: 201, notificationID: "n-\(flight.attempt)")))
    }

    /// Returns `nil` if the fault does not affect the request.
    private func fate(
        of flight: Flight, in trouble: HubFailure, since: Duration, _ isHTTP2: Bool, _ draw: inout SeededRandom
    ) -> Fate? {
        func answer(_ status: Int, retryAfter: Int? = nil) -> Fate {
            Fate(answer: .reply(HubReply(status: status, retryAfter: retryAfter.map { .seconds($0) })))
        }
        let delivery = truth.attempts[flight.attempt].delivery
        let isGood = !truth.news(of: delivery).isRefused(on: truth.platform(of: delivery))
        switch trouble {
        case .replyLost: return Fate(isAccepted: isGood)
        case .resetBefore: return Fate(answer: .reset)
        case .resetAfter: return Fate(isAccepted: isGood, answer: .reset)
        case .hang: return Fate()
        case .connectionLost, .unreachable: return Fate(answer: .close)
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
        // It concerns only new connections.
        case .certificate: return nil
        case .refusedStream: return isHTTP2 ? Fate(answer: .refuse) : nil
        case .misdirected: return isHTTP2 ? answer(421) : nil
        }
    }
}
