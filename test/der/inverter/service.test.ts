import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  isConnected,
  isEnergized,
  nextPhase,
  serviceDiagram,
  servicePhases,
  serviceTransitions,
} from '../../../src/der/inverter/service.ts';
import type { ServiceInput, ServicePhase } from '../../../src/der/inverter/service.ts';
import { quickEntry, Rig } from '../../support/rig.ts';

const inputNames = ['stop', 'cease', 'trip', 'causePersists', 'inWindow', 'delayOver', 'rampOver', 'atZero'] as const;

function allInputs(): ServiceInput[] {
  return Array.from(
    { length: 2 ** inputNames.length },
    (_, bits) =>
      Object.fromEntries(
        inputNames.map((name, at) => [name, Math.floor(bits / 2 ** at) % 2 === 1]),
      ) as unknown as ServiceInput,
  );
}

/** Phases gone through at one instant, the first and the last included. */
function chain(phase: ServicePhase, input: ServiceInput): ServicePhase[] {
  const seen = [phase];
  for (let next = nextPhase(phase, input); next !== seen.at(-1); next = nextPhase(next, input)) {
    seen.push(next);
    if (seen.length > 20) break;
  }
  return seen;
}

const shown = (phase: ServicePhase, input: ServiceInput) =>
  `${phase} with ${inputNames.filter((name) => input[name]).join(', ') || 'nothing'}`;

describe('Service transitions (IEEE 1547-2018 4.10, 4.6.2)', () => {
  const cases = servicePhases.flatMap((phase) =>
    allInputs().map((input) => ({ phase, input, path: chain(phase, input), name: shown(phase, input) })),
  );

  it('come to rest within four steps from every phase under every input', () => {
    for (const { path, name } of cases) expect(path.length, `${name}: ${path.join(' > ')}`).to.be.at.most(5);
  });

  it('never enter an energized phase during a trip', () => {
    for (const { path, input, name } of cases.filter((one) => one.input.trip)) {
      expect(path.slice(1).some(isEnergized), name).to.equal(false);
      expect(isEnergized(path.at(-1)!), name).to.equal(false);
      expect(path.at(-1), name).to.be.oneOf(input.stop ? ['off'] : ['tripped', 'waiting']);
    }
  });

  it('never settle in an energized phase under stop or cease', () => {
    for (const { path, phase, input, name } of cases) {
      const last = path.at(-1)!;
      if (input.stop) expect(last, name).to.be.oneOf(['off', 'shutting_down']);
      else if (input.cease) expect(isEnergized(last), name).to.equal(false);
      if (input.stop && !isEnergized(phase)) expect(last, name).to.equal('off');
    }
  });

  it('enter service only through the window and the delay', () => {
    for (const { path, phase, input, name } of cases) {
      if (isEnergized(phase) || !path.some((step) => isEnergized(step))) continue;
      expect(input.inWindow && input.delayOver && !input.cease && !input.stop, name).to.equal(true);
    }
  });

  it('never leave a trip while its cause persists, except by a stop', () => {
    for (const { path, input, name } of cases.filter((one) => one.phase === 'tripped' && one.input.causePersists)) {
      expect(path.at(-1), name).to.equal(input.stop ? 'off' : 'tripped');
    }
  });

  it('reach every phase, and leave every phase', () => {
    const reachable = new Set<ServicePhase>(['in_service']);
    for (let size = 0; size < reachable.size; ) {
      size = reachable.size;
      for (const phase of [...reachable]) for (const input of allInputs()) reachable.add(nextPhase(phase, input));
    }
    expect([...reachable].sort()).to.deep.equal([...servicePhases].sort());
    for (const phase of servicePhases)
      expect(
        serviceTransitions.some((row) => row.from.includes(phase)),
        phase,
      ).to.equal(true);
  });

  it('matches the diagram in docs/ARCHITECTURE.md', () => {
    const page = readFileSync(new URL('../../../docs/ARCHITECTURE.md', import.meta.url), 'utf8');
    expect(page).to.contain(serviceDiagram());
  });

  it('are drawn from the same table', () => {
    const lines = serviceDiagram().split('\n');
    expect(lines[0]).to.equal('stateDiagram-v2');
    expect(lines).to.include('  waiting --> ramping: delay over');
    expect(lines.length - 2).to.equal(serviceTransitions.reduce((sum, row) => sum + row.from.length, 0));
  });

  it('close the contactor exactly in the energized phases and while ceased', () => {
    expect(servicePhases.filter(isConnected)).to.deep.equal(['in_service', 'ramping', 'ceased', 'shutting_down']);
  });
});

describe('State table (701.St, InvSt, ConnSt)', () => {
  it('in service: running', async () => {
    const rig = await Rig.sunny();
    expect(rig.state).to.equal('on running connected');
    await rig.run(60);
    expect(rig.state).to.equal('on running connected');
    expect(rig.snapshot.status).not.to.have.property('message');
    expect(rig.device.enterService).to.deep.equal({ state: 'in_service', delayRemainingS: 0 });
  });

  it('in service: throttled while a limit reduces the power', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 40;
    });
    await rig.run(10);
    expect(rig.state).to.equal('on throttled connected');
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'DISABLED';
    });
    await rig.run(10);
    expect(rig.state).to.equal('on running connected');
  });

  it('in service: sleeping without light', async () => {
    const rig = new Rig();
    rig.plant.setSurroundings({ irradianceWm2: 0 });
    await rig.run(5);
    expect(rig.state).to.equal('on sleeping connected');
    expect(rig.w).to.equal(-2);
  });

  it('waiting for the window, then for the delay, then ramping up', async () => {
    const rig = await Rig.sunny();
    quickEntry(rig, { delayS: 30, rampS: 20 });
    rig.plant.setGrid({ voltagePu: 0.4 });
    await rig.run(3);
    expect(rig.state).to.equal('off fault disconnected');
    // the cause is gone, the window is not reached
    rig.plant.setGrid({ voltagePu: 0.9 });
    await rig.run(1);
    expect(rig.state).to.equal('off standby disconnected');
    expect(rig.snapshot.status.message).to.equal('waiting for the grid');
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.run(1);
    expect(rig.state).to.equal('off standby disconnected');
    expect(rig.snapshot.status.message).to.equal('waiting for the enter-service delay');
    expect(rig.map.m703.ESDlyRemTms).to.equal(29);
    expect(rig.device.enterService).to.deep.equal({ state: 'waiting', delayRemainingS: 29 });
    rig.plant.setGrid({ frequencyHz: 60.2 });
    await rig.run(1);
    expect(rig.state).to.equal('off standby disconnected');
    expect(rig.snapshot.status.message).to.equal('waiting for the grid');
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(30.1);
    expect(rig.state).to.equal('on starting connected');
    expect(rig.snapshot.status.message).to.equal('ramping up after entering service');
    await rig.run(20);
    expect(rig.state).to.equal('on running connected');
  });

  for (const [cause, off, on, message] of [
    [
      '703.ES disabled',
      (rig: Rig) => {
        rig.set((tx) => {
          tx.m703.ES = 'DISABLED';
        });
      },
      (rig: Rig) => {
        rig.set((tx) => {
          tx.m703.ES = 'ENABLED';
        });
      },
      'service not permitted',
    ],
    [
      '715.OpCtl standby',
      (rig: Rig) => {
        rig.set((tx) => {
          tx.m715.OpCtl = 'ENTER_STANDBY';
        });
      },
      (rig: Rig) => {
        rig.set((tx) => {
          tx.m715.OpCtl = 'EXIT_STANDBY';
        });
      },
      'standby by operator',
    ],
  ] as const) {
    it(`${cause}: ceases to energize at once, stays connected, returns through enter service`, async () => {
      const rig = await Rig.sunny();
      quickEntry(rig, { delayS: 10, rampS: 10 });
      off(rig);
      await rig.run(0.1);
      expect(rig.state).to.equal('off standby connected');
      expect([rig.w, rig.q, rig.map.m714.DCW]).to.deep.equal([0, 0, 0]);
      expect(rig.snapshot.status.message).to.equal(message);
      expect(rig.device.enterService.state).to.equal('out_of_service');
      on(rig);
      await rig.run(9.9);
      expect(rig.state).to.equal('off standby disconnected');
      await rig.run(0.2);
      expect(rig.state).to.equal('on starting connected');
      await rig.run(10);
      expect(rig.state).to.equal('on running connected');
    });
  }

  for (const [cause, off, on, message] of [
    [
      'operator stop',
      (rig: Rig) => {
        rig.device.command({ kind: 'stop' }, { source: 'rest' });
      },
      (rig: Rig) => {
        rig.device.command({ kind: 'start' }, { source: 'rest' });
      },
      'stopped by operator',
    ],
    [
      '715.OpCtl stop',
      (rig: Rig) => {
        rig.set((tx) => {
          tx.m715.OpCtl = 'STOP';
        });
      },
      (rig: Rig) => {
        rig.set((tx) => {
          tx.m715.OpCtl = 'START';
        });
      },
      'stopped by operator',
    ],
    [
      'switch open',
      (rig: Rig) => {
        rig.device.command({ kind: 'switch', closed: false }, { source: 'csip' });
      },
      (rig: Rig) => {
        rig.device.command({ kind: 'switch', closed: true }, { source: 'csip' });
      },
      'switch open',
    ],
  ] as const) {
    it(`${cause}: ramps to zero, opens, raises MANUAL_SHUTDOWN, returns through enter service`, async () => {
      const rig = await Rig.sunny();
      quickEntry(rig, { delayS: 10, rampS: 10 });
      off(rig);
      await rig.run(2.5);
      expect(rig.state).to.equal('off shutting_down connected');
      // 704.WRmp is 20 %/s
      expect(rig.w).to.be.closeTo(5000, 20);
      expect(rig.snapshot.status.message).to.equal(message);
      await rig.run(2.7);
      expect(rig.state).to.equal('off off disconnected');
      expect([rig.w, rig.map.m701.A]).to.deep.equal([0, 0]);
      expect(rig.alarmBits).to.deep.equal([6]);
      expect(rig.device.alarms[0]).to.include({
        code: 'manual_shutdown',
        severity: 'info',
        latched: false,
        deviceIndex: 0,
      });
      expect(rig.device.enterService.state).to.equal('out_of_service');
      on(rig);
      await rig.run(9.9);
      expect(rig.state).to.equal('off standby disconnected');
      expect(rig.alarmBits).to.deep.equal([]);
      await rig.run(0.2);
      expect(rig.state).to.equal('on starting connected');
      await rig.run(10);
      expect(rig.state).to.equal('on running connected');
    });
  }

  it('trip: fault, then standby when the cause is gone', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ voltagePu: 1.3 });
    await rig.run(0.5);
    expect(rig.state).to.equal('off fault disconnected');
    expect(rig.snapshot.status.message).to.equal('tripped on over-voltage');
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.run(0.5);
    expect(rig.state).to.equal('off standby disconnected');
    expect(rig.alarmBits).to.deep.equal([]);
  });

  it('a stop revoked half-way ramps up again from the present power', async () => {
    const rig = await Rig.sunny();
    rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
    await rig.run(2);
    expect(rig.w).to.be.closeTo(6000, 20);
    rig.device.command({ kind: 'switch', closed: true }, { source: 'rest' });
    await rig.run(1);
    expect(rig.state).to.equal('on throttled connected');
    expect(rig.w).to.be.closeTo(8000, 20);
    expect([...rig.device.activeFunctions]).to.deep.equal(['ramp']);
    await rig.run(1.5);
    expect(rig.state).to.equal('on running connected');
    expect(rig.w).to.equal(10_000);
  });

  it('a stop wins over a cease, and can be revoked register by register', async () => {
    const rig = await Rig.sunny();
    quickEntry(rig);
    rig.device.command({ kind: 'stop' }, { source: 'rest' });
    expect(rig.map.m703.ES).to.equal('DISABLED');
    await rig.run(6);
    expect(rig.state).to.equal('off off disconnected');
    rig.device.command({ kind: 'switch', closed: true }, { source: 'rest' });
    await rig.run(60);
    expect(rig.state).to.equal('off off disconnected');
    rig.set((tx) => {
      tx.m715.OpCtl = 'START';
    });
    await rig.run(60);
    expect(rig.state).to.equal('off standby disconnected');
    expect(rig.snapshot.status.message).to.equal('service not permitted');
    rig.device.command({ kind: 'start' }, { source: 'rest' });
    await rig.run(10);
    expect(rig.state).to.equal('on running connected');
  });

  it('a start value of the profile counts from the first snapshot on', () => {
    for (const [models, state] of [
      [{ 703: { ES: 'DISABLED' } }, 'off standby connected'],
      [{ 715: { OpCtl: 'ENTER_STANDBY' } }, 'off standby connected'],
      [{ 715: { OpCtl: 'STOP' } }, 'off off disconnected'],
    ] as const) {
      const rig = new Rig({ models });
      expect(rig.state).to.equal(state);
      expect(rig.w).to.equal(0);
    }
  });
});
