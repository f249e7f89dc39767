import { expect } from 'chai';
import { knownControls } from '../../../src/csip/events/schedule.ts';
import { restoreSchedule, savedSchedule, saveSchedule } from '../../../src/csip/events/state.ts';
import { eventDiagram, eventTransitions } from '../../../src/csip/events/transitions.ts';
import { control, defaults, one, pf, program, Scene } from './scene.ts';

describe('CSIP events: memory and restarts', () => {
  it('an ended event that is still listed is neither run nor answered again', () => {
    const scene = one().runTo(300);
    for (let t = 301; t < 320; t++) scene.read(t, program('P', 1, [control('A', { status: 'active' })]));
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('a restart at any instant changes no response', () => {
    const curves = new Map([['/c', { curveType: 11 }]]);
    const volts = control('V', {
      modes: ['opModVoltVar'],
      control: { base: { opModVoltVar: { href: '/c' } }, curves },
    });
    const programs = [
      program('P', 1, [control('W', { startS: 150, durationS: 20 }), volts]),
      program('Q', 2, [control('L', { randomizeStartS: 20 })], { defaultControl: defaults('Q', [pf]) }),
    ];
    const run = (restartS: number | null) => {
      const scene = new Scene().read(0, ...programs);
      for (let t = 90; t < 300; t++) {
        if (t === restartS) scene.state = restoreSchedule(saveSchedule(scene.state));
        scene.time(t);
      }
      return { responses: scene.responses, known: knownControls(scene.state), now: scene.inForce };
    };
    const straight = run(null);
    for (const restartS of [95, 100, 110, 149, 150, 160, 169, 170, 200, 250])
      expect(run(restartS), String(restartS)).to.deep.equal(straight);
  });

  it('is kept whole: events, curves, programs with and without a default control; what is in force is not', () => {
    const curves = new Map([
      ['/c', { curveType: 11 }],
      ['/d', null],
    ]);
    const scene = new Scene().read(
      0,
      program('P', 1, [control('A', { control: { base: {}, curves } })]),
      program('Q', 2, [], { defaultControl: { ...defaults('Q', [pf]), control: { base: {}, curves } } }),
    );
    expect(scene.inForce).to.have.length(1);
    expect(restoreSchedule(saveSchedule(scene.state))).to.deep.equal({ ...scene.state, inForce: [] });
  });

  it('what another version has kept is not taken', () => {
    for (const odd of [{ form: 99 }, null, 'x', 1, {}, []])
      expect(savedSchedule.safeParse(odd).success, JSON.stringify(odd)).to.equal(false);
    const saved = saveSchedule(one().state);
    expect(savedSchedule.safeParse(saved).success).to.equal(true);
  });
});

describe('CSIP events: the transition table', () => {
  it('has a way out of each state that is not an end', () => {
    for (const phase of ['received', 'scheduled', 'active'] as const)
      expect(eventTransitions.some(({ from }) => from.includes(phase))).to.equal(true);
    for (const { from } of eventTransitions)
      for (const phase of from) expect(['received', 'scheduled', 'active']).to.include(phase);
  });

  it('is drawn from the same rows', () => {
    const lines = eventDiagram().split('\n');
    expect(lines[0]).to.equal('stateDiagram-v2');
    expect(lines).to.include('  active --> completed: end');
    expect(lines.length - 2).to.equal(eventTransitions.reduce((sum, { from }) => sum + from.length, 0));
  });
});
