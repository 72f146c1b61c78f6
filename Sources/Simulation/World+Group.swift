import NewsModel
import PublishEngine

/// Consumer groups: who is a member, who has which partitions, and how they change hands.
extension World {
    // MARK: Members come and go

    mutating func join(_ address: Address, lane: Int) {
        if life.setting.isStatic,
            let known = groups[lane].members.firstIndex(where: { $0.address.process == address.process })
        {
            groups[lane].members[known].address = address
            let member = groups[lane].members[known]
            if groups[lane].isRebalancing || member.generation < 0 {
                groups[lane].members[known].hasJoined = true
                completeWhenJoined(lane)
            } else {
                give(member, lane: lane)
            }
            return
        }
        groups[lane].members.append(ConsumerGroup.Member(address: address))
        rebalance(lane)
    }

    mutating func leave(_ address: Address, lane: Int) {
        processes[address.process].clients[lane].hasLeft = true
        if life.setting.isStatic {
            agenda.add(.expireSession(address, lane: lane), at: now + life.setting.sessionTimeout)
        } else {
            remove(address, lane: lane)
        }
        agenda.add(.exit(address), at: now)
    }

    private mutating func remove(_ address: Address, lane: Int) {
        guard let index = groups[lane].index(of: address) else { return }
        groups[lane].members.remove(at: index)
        rebalance(lane)
    }

    mutating func expire(_ address: Address, lane: Int) {
        let process = processes[address.process]
        let isGone =
            process.incarnation != address.incarnation || process.engine == nil
            || process.clients[lane].hasLeft
        guard isGone || process.frozenUntil > now else { return }
        expel(address, lane: lane, noticedAfter: max(process.frozenUntil - now, .zero))
    }

    /// The broker forgets a member, which does not know yet.
    mutating func expel(_ address: Address, lane: Int, noticedAfter delay: Duration) {
        guard groups[lane].index(of: address) != nil else { return }
        remove(address, lane: lane)
        agenda.add(.noticeLoss(address, lane: lane), at: now + delay)
    }

    mutating func noticeLoss(_ address: Address, lane: Int) {
        let client = processes[address.process].clients[lane]
        guard groups[lane].index(of: address) == nil, !client.isDraining, !client.hasLeft else { return }
        if client.slots.isEmpty {
            rejoin(address, lane: lane)
        } else {
            revoke(address, lane: lane, isLost: true)
        }
    }

    // MARK: Rebalances

    /// Everyone is to give everything up and to join again.
    mutating func rebalance(_ lane: Int) {
        if !groups[lane].isRebalancing {
            groups[lane].isRebalancing = true
            groups[lane].round += 1
            report.rebalances += 1
            for index in groups[lane].members.indices where groups[lane].members[index].generation >= 0 {
                groups[lane].members[index].hasJoined = false
                let address = groups[lane].members[index].address
                agenda.add(
                    .hear(address, lane: lane, round: groups[lane].round), at: now + random.milliseconds(0...300))
            }
            agenda.add(
                .completeJoin(lane: lane, round: groups[lane].round, isForced: true), at: now + .seconds(60))
        }
        completeWhenJoined(lane)
    }

    private mutating func completeWhenJoined(_ lane: Int) {
        guard groups[lane].isRebalancing, groups[lane].members.allSatisfy(\.hasJoined) else { return }
        agenda.add(
            .completeJoin(lane: lane, round: groups[lane].round, isForced: false),
            at: now + random.milliseconds(1...100))
    }

    mutating func completeJoin(_ lane: Int, round: Int, isForced: Bool) {
        guard groups[lane].isRebalancing, groups[lane].round == round else { return }
        if isForced {
            for member in groups[lane].members where !member.hasJoined {
                if let index = groups[lane].index(of: member.address) { groups[lane].members.remove(at: index) }
                agenda.add(.noticeLoss(member.address, lane: lane), at: now + .milliseconds(300))
            }
        }
        guard groups[lane].members.allSatisfy(\.hasJoined) else { return }
        groups[lane].assign(topics: life.setting.lanes[lane].topics, partitions: life.setting.partitions)
        for member in groups[lane].members { give(member, lane: lane) }
    }

    private mutating func give(_ member: ConsumerGroup.Member, lane: Int) {
        agenda.add(
            .takeAssignment(
                member.address, lane: lane, groupGeneration: member.generation, partitions: member.partitions),
            at: now + random.milliseconds(0...50))
    }

    // MARK: What a member does

    mutating func takeAssignment(
        _ address: Address, lane: Int, groupGeneration: Int, _ partitions: [TopicPartition]
    ) {
        let index = address.process
        guard processes[index].clients[lane].groupGeneration < groupGeneration, !processes[index].isClosing else {
            if processes[index].isClosing, !processes[index].clients[lane].hasLeft { leave(address, lane: lane) }
            return
        }
        processes[index].clients[lane].generation += 1
        processes[index].clients[lane].groupGeneration = groupGeneration
        processes[index].clients[lane].isDraining = false
        processes[index].clients[lane].slots = partitions.sorted().map {
            LaneClient.Slot(partition: $0, position: books.committed[lane][$0] ?? 0)
        }
        let generation = processes[index].clients[lane].generation
        processes[index].clients[lane].ledgerGeneration = generation
        post(.assigned(lane: lane, generation: generation, partitions: partitions.sorted()), to: address)
    }

    /// A heartbeat's answer says that the group rebalances.
    mutating func hear(_ address: Address, lane: Int, round: Int) {
        guard let index = groups[lane].index(of: address), groups[lane].round == round,
            !groups[lane].members[index].hasJoined
        else { return }
        let client = processes[address.process].clients[lane]
        guard client.groupGeneration == groups[lane].members[index].generation else {
            // Its last assignment is still on the way.
            agenda.add(.hear(address, lane: lane, round: round), at: now + .milliseconds(60))
            return
        }
        guard !client.isDraining, !client.hasLeft else { return }
        revoke(address, lane: lane, isLost: false)
    }

    mutating func revoke(_ address: Address, lane: Int, isLost: Bool) {
        let client = processes[address.process].clients[lane]
        let partitions = client.slots.map(\.partition)
        processes[address.process].clients[lane].slots = []
        processes[address.process].clients[lane].ledgerGeneration = client.generation + 1
        post(
            .revoked(lane: lane, generation: client.generation, partitions: partitions, lost: isLost), to: address)
        processes[address.process].clients[lane].isDraining = true
        if isLost || partitions.isEmpty {
            unassign(address, lane: lane, generation: client.generation)
        } else {
            agenda.add(
                .loseReleasePatience(address, lane: lane, generation: client.generation),
                at: now + life.setting.releaseTimeout)
        }
    }

    /// The partitions are gone: on to the next round, or out.
    mutating func unassign(_ address: Address, lane: Int, generation: Int) {
        let client = processes[address.process].clients[lane]
        guard client.isDraining, client.generation == generation else { return }
        processes[address.process].clients[lane].isDraining = false
        if processes[address.process].isClosing {
            leave(address, lane: lane)
        } else {
            rejoin(address, lane: lane)
        }
    }

    private mutating func rejoin(_ address: Address, lane: Int) {
        guard let index = groups[lane].index(of: address) else {
            join(address, lane: lane)
            return
        }
        groups[lane].members[index].hasJoined = true
        completeWhenJoined(lane)
    }
}
