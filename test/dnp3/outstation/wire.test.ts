import { expect } from 'chai';
import { Stack, spec } from '../rig/stack.ts';

/** An outstation with a few points of the profile, its restart cleared and its time written. */
function stack(more: Partial<ConstructorParameters<typeof Stack>[0]> = {}): Stack {
  const made = new Stack({
    specs: [
      ...[0, 1, 2, 69].map((index) => spec('binaryInput', index)),
      spec('binaryOutput', 17),
      ...[87, 88].map((index) => spec('analogOutput', index)),
      ...[148, 536, 537].map((index) => spec('analogInput', index, { class: 2 })),
      ...[0, 1].map((index) => spec('counter', index, { class: 0 })),
      ...[0, 1].map((index) => spec('frozenCounter', index, { class: 3 })),
    ],
    ...more,
  });
  for (const [kind, index] of [
    ...[0, 1, 2, 69].map((each) => ['binaryInput', each] as const),
    ['binaryOutput', 17] as const,
    ...[87, 88].map((each) => ['analogOutput', each] as const),
    ...[148, 536, 537].map((each) => ['analogInput', each] as const),
    ...[0, 1].map((each) => ['counter', each] as const),
  ])
    made.set(kind, index, 0);
  return made;
}

function settled(more: Parameters<typeof stack>[0] = {}): Stack {
  const made = stack(more);
  made.ask('c0 02 50 01 00 07 07 00');
  made.ask('c1 02 32 01 07 01 00 68 e5 cf 8b 01');
  return made;
}

describe('an outstation of DNP3 on the wire', () => {
  it('8.6.1 starts with DEVICE_RESTART and NEED_TIME, which two writes clear', () => {
    const made = stack();
    expect(made.ask('c0 01 3c 02 06')).to.deep.equal(['c0 81 90 00']);
    expect(made.ask('c1 02 50 01 00 07 07 00')).to.deep.equal(['c1 81 10 00']);
    expect(made.ask('c2 02 32 01 07 01 00 68 e5 cf 8b 01')).to.deep.equal(['c2 81 00 00']);
  });

  it('8.20 reads binary and analog inputs by ranges', () => {
    const made = settled();
    made.set('binaryInput', 1, 1);
    made.set('analogInput', 536, 60_000);
    made.set('analogInput', 537, 80_000);
    expect(made.ask('c8 01 01 00 00 00 02 1e 00 01 18 02 19 02')).to.deep.equal([
      'c8 81 06 00 01 02 00 00 02 01 81 01 1e 01 01 18 02 19 02 01 60 ea 00 00 01 80 38 01 00',
    ]);
  });

  it('8.2.1 selects and operates, then refuses an operate without a select', () => {
    const made = settled();
    const crob = '0c 01 28 01 00 11 00 03 01 64 00 00 00 64 00 00 00';
    expect(made.ask(`c3 03 ${crob} 00`)).to.deep.equal([`c3 81 00 00 ${crob} 00`]);
    expect(made.done).to.deep.equal([]);
    expect(made.ask(`c4 04 ${crob} 00`)).to.deep.equal([`c4 81 00 00 ${crob} 00`]);
    expect(made.done).to.deep.equal([{ kind: 'binary', index: 17, state: 1 }]);
    expect(made.ask(`c5 04 ${crob} 00`)).to.deep.equal([`c5 81 00 00 ${crob} 02`]);
    expect(made.done).to.have.length(1);
  });

  it('8.3.1 operates an analog output directly', () => {
    const made = settled();
    expect(made.ask('c5 05 29 01 28 01 00 57 00 f4 01 00 00 00')).to.deep.equal([
      'c5 81 00 00 29 01 28 01 00 57 00 f4 01 00 00 00',
    ]);
    expect(made.done).to.deep.equal([{ kind: 'analog', index: 87, value: 500, isFloat: false }]);
  });

  it('8.3.2 gives no answer to a direct operate without acknowledgement, and carries it out', () => {
    const made = settled();
    expect(made.ask('c5 06 29 01 28 01 00 57 00 f4 01 00 00 00')).to.deep.equal([]);
    expect(made.done).to.have.length(1);
  });

  it('8.2.3 answers status 4 and IIN2.2 for an output that is not installed', () => {
    const made = settled();
    expect(made.ask('c5 05 29 01 28 01 00 63 00 f4 01 00 00 00')).to.deep.equal([
      'c5 81 00 04 29 01 28 01 00 63 00 f4 01 00 00 04',
    ]);
  });

  it('8.7 measures the delay', () => {
    expect(settled().ask('c6 17')).to.deep.equal(['c6 81 00 00 34 02 07 01 00 00']);
  });

  it('8.6.2 tells unknown functions and objects', () => {
    const made = settled();
    expect(made.ask('c8 46')).to.deep.equal(['c8 81 00 01']);
    expect(made.ask('c9 01 63 00 06')).to.deep.equal(['c9 81 00 02']);
    expect(made.ask('ca 01 1e 09 06')).to.deep.equal(['ca 81 00 02']);
    expect(made.ask('cb 01 1e 00 00 05 02')).to.deep.equal(['cb 81 00 04']);
  });

  it('8.5.2 reports an event with CON until it is confirmed', () => {
    const made = settled();
    made.set('analogInput', 148, 500);
    const event = 'e7 81 00 00 20 01 28 01 00 94 00 01 f4 01 00 00';
    expect(made.ask('c7 01 3c 03 06')).to.deep.equal([event]);
    // a confirm of another number does nothing; without the right one the event comes again
    expect(made.ask('c5 00')).to.deep.equal([]);
    expect(made.ask('c8 01 3c 03 06')).to.deep.equal([event.replace('e7', 'e8')]);
    made.ask('c8 00');
    expect(made.ask('c9 01 3c 03 06')).to.deep.equal(['c9 81 00 00']);
  });

  it('8.5.3 keeps events when no confirm comes in time', () => {
    const made = settled();
    made.set('analogInput', 148, 500);
    made.ask('c7 01 3c 03 06');
    made.clock.pass(5000);
    made.ask('c7 00');
    expect(made.ask('c8 01 3c 03 06')[0]).to.include('20 01 28 01 00 94 00');
  });

  it('8.16 freezes counters into class 3 events and reads them', () => {
    const made = settled();
    made.set('counter', 0, 1000);
    expect(made.ask('c1 01 15 00 06')).to.deep.equal(['c1 81 00 00 15 01 00 00 01 02 00 00 00 00 02 00 00 00 00']);
    expect(made.ask('c2 07 14 00 06')).to.deep.equal(['c2 81 08 00']);
    expect(made.ask('c3 01 15 00 06')).to.deep.equal(['c3 81 08 00 15 01 00 00 01 01 e8 03 00 00 01 00 00 00 00']);
    expect(made.ask('c4 01 3c 04 06')[0]).to.equal(
      'e4 81 00 00 17 05 28 02 00 00 00 01 e8 03 00 00 00 68 e5 cf 8b 01 01 00 01 00 00 00 00 00 68 e5 cf 8b 01',
    );
  });

  it('8.8.1 restarts on request', () => {
    const made = settled();
    expect(made.ask('cb 0d')).to.deep.equal(['cb 81 00 00 34 02 07 01 00 00']);
    expect(made.ask('c0 01 3c 02 06')).to.deep.equal(['c0 81 90 00']);
  });

  it('8.6.4 tells of a broadcast in the next response, with a confirm where the address asks for one', () => {
    const made = settled();
    expect(made.ask('c0 07 14 00 06', 4, 'broadcast-no-confirm')).to.deep.equal([]);
    expect(made.ask('c1 01 1e 00 00 00 00')[0]).to.match(/^c1 81 09 /);
    expect(made.ask('c2 01 1e 00 00 00 00')[0]).to.match(/^c2 81 08 /);
    made.ask('c3 18', 4, 'broadcast-confirm');
    expect(made.ask('c4 17')[0]).to.match(/^e4 81 09 /);
    made.ask('c4 00');
    expect(made.ask('c5 17')[0]).to.match(/^c5 81 08 /);
  });

  it('8.26 assigns a class', () => {
    const made = settled();
    expect(made.ask('c1 16 3c 02 06 1e 00 01 94 00 94 00')).to.deep.equal(['c1 81 00 00']);
    made.set('analogInput', 148, 1);
    expect(made.ask('c2 01 3c 03 06')).to.deep.equal(['c2 81 02 00']);
    expect(made.ask('c3 01 3c 02 06')[0]).to.match(/^e3 81 00 00 20 01/);
  });
});
