import { expect } from 'chai';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import { defaultControls } from '../../../src/csip/events/schedule.ts';
import { applied, control, defaults, outcome, pf, program, resolved, Scene, watt } from './scene.ts';

describe('CSIP events: overlap', () => {
  const long = (over: Partial<ListedControl> = {}) => control('L', { startS: 100, durationS: 200, ...over });
  const short = (over: Partial<ListedControl> = {}) => control('W', { startS: 150, durationS: 50, ...over });

  it('lower primacy wins; 7 at the effective start of the winner and before its 2; it does not resume', () => {
    const scene = new Scene().read(0, program('P', 1, [short()]), program('Q', 2, [long()])).runTo(400);
    expect(scene.responses).to.deep.equal(['0 W 1', '0 L 1', '100 L 2', '150 L 7', '150 W 2', '200 W 3']);
    expect(scene.stateOf('L')).to.equal('superseded');
  });

  it('of equal primacy the later creation wins (rule e)', () => {
    const list = [long({ creationS: 5 }), short({ creationS: 6 })];
    expect(new Scene().read(0, program('P', 1, list)).time(150).now).to.deep.equal(['W: MaxLimW']);
    const other = [long({ creationS: 6 }), short({ creationS: 5 })];
    const scene = new Scene().read(0, program('P', 1, other)).runTo(400);
    expect(scene.of('L')).to.deep.equal([1, 2, 3]);
    expect(scene.of('W')).to.deep.equal([1, 7]);
  });

  it('of equal primacy and creation the mRID decides, in whatever order the lists come', () => {
    for (const list of [
      [control('A'), control('B')],
      [control('B'), control('A')],
    ]) {
      const scene = new Scene().read(0, program('P', 1, list)).time(100);
      expect(scene.now).to.deep.equal(['A: MaxLimW']);
    }
  });

  it('a later start of lower priority inside the winner is superseded at the start of the winner', () => {
    const scene = new Scene().read(0, program('P', 1, [long()]), program('Q', 2, [short()])).runTo(400);
    expect(scene.responses).to.deep.equal(['0 L 1', '0 W 1', '100 W 7', '100 L 2', '300 L 3']);
  });

  it('discovered after the start of the winner: 7 at once', () => {
    const scene = new Scene().read(0, program('P', 1, [long()])).time(100);
    scene.read(120, program('P', 1, [long()]), program('Q', 2, [short()]));
    expect(scene.responses.slice(-2)).to.deep.equal(['120 W 1', '120 W 7']);
  });

  it('a winner cancelled before its start leaves the loser untouched', () => {
    const scene = new Scene().read(0, program('P', 1, [short()]), program('Q', 2, [long()])).time(100);
    scene.read(140, program('P', 1, [short({ status: 'cancelled' })]), program('Q', 2, [long()])).runTo(400);
    expect(scene.of('L')).to.deep.equal([1, 2, 3]);
    expect(scene.of('W')).to.deep.equal([1, 6]);
  });

  it('a winner that ends early does not bring the loser back: the default control follows', () => {
    const low = program('Q', 2, [long()], { defaultControl: defaults('Q', [watt]) });
    const scene = new Scene().read(0, program('P', 1, [short()]), low).time(100, 150);
    scene.read(160, program('P', 1, [short({ status: 'cancelled' })]), low);
    expect(scene.now).to.deep.equal(['default Q: MaxLimW']);
  });

  it('an event that has ended at the instant of the winner loses nothing: its successor begins, and loses', () => {
    const ended = long({ durationS: 100, randomizeStartS: 40 });
    const low = program('Q', 2, [ended, control('S', { startS: 200, durationS: 10 })]);
    const scene = new Scene()
      .read(0, low)
      .time(120)
      .read(220, program('P', 1, [short({ durationS: 100 })]), low);
    expect(scene.of('L')).to.deep.equal([1, 2, 3]);
    expect(scene.of('S')).to.deep.equal([1, 7]);
  });

  it('an event that loses its modes early moves the next one no longer: that does not overlap, and runs', () => {
    const winner = control('W', { randomizeDurationS: -20 });
    const between = control('B', { startS: 150, durationS: 60, randomizeDurationS: -60 });
    const next = control('N', { startS: 210 });
    const scene = new Scene().read(0, program('P', 1, [winner]), program('Q', 2, [next, between])).runTo(400);
    expect(scene.responses.slice(3)).to.deep.equal(['100 B 7', '100 W 2', '190 W 3', '210 N 2', '310 N 3']);
  });

  it('an event that its server has superseded takes no mode from its successor', () => {
    const both = control('S', { startS: 150, randomizeStartS: 60, modes: [watt, pf] });
    const scene = new Scene().read(0, program('P', 1, [long()])).time(100);
    scene.read(160, program('P', 1, [long({ status: 'superseded' })]), program('Q', 2, [both]));
    expect(scene.now).to.deep.equal(['L: MaxLimW']);
    scene.time(180);
    expect(scene.now).to.deep.equal(['S: MaxLimW FixedPFInjectW']);
    expect(scene.of('L')).to.deep.equal([1, 2, 7]);
  });

  it('after a clock was set back, of two events whose periods are apart one has the mode', () => {
    const low = program('Q', 2, [long()]);
    const scene = new Scene().read(0, low).time(100);
    scene.read(60, program('P', 1, [control('W', { startS: 50, durationS: 40 })]), low);
    expect(scene.now).to.deep.equal(['W: MaxLimW']);
    expect(scene.of('L')).to.deep.equal([1, 2, 7]);
  });

  it('of some modes: the loser goes on with the others and completes', () => {
    const both = long({ modes: [watt, pf], control: resolved([watt, pf]) });
    const scene = new Scene().read(0, program('P', 1, [short()]), program('Q', 2, [both])).time(100);
    expect(scene.now).to.deep.equal(['L: MaxLimW FixedPFInjectW']);
    scene.time(150);
    expect(scene.now).to.deep.equal(['W: MaxLimW', 'L: FixedPFInjectW']);
    scene.time(200);
    expect(scene.now).to.deep.equal(['L: FixedPFInjectW']);
    scene.time(300);
    expect(scene.of('L')).to.deep.equal([1, 2, 3]);
  });

  it('of all modes that the device can carry out: superseded', () => {
    const both = long({ modes: [watt, pf], control: resolved([watt, pf]) });
    const check = ({ base }: { base: object }) => (pf in base ? outcome('applied', pf) : applied);
    const scene = new Scene({ check });
    scene.outcomeOf = (id) => (id === 'L' ? outcome('applied', pf) : applied);
    scene.read(0, program('P', 1, [short()]), program('Q', 2, [both])).runTo(400);
    expect(scene.of('L')).to.deep.equal([1, 2, 7]);
  });

  it('of two winners one after the other, each with one mode: 7 when the last mode is gone', () => {
    const both = long({ modes: [watt, pf], control: resolved([watt, pf]) });
    const second = control('X', { startS: 180, durationS: 10, modes: [pf], control: resolved([pf]) });
    const scene = new Scene().read(0, program('P', 1, [short(), second]), program('Q', 2, [both])).runTo(400);
    expect(scene.responses.filter((line) => line.includes('L'))).to.deep.equal(['0 L 1', '100 L 2', '180 L 7']);
  });

  it('independent modes of several programs are composed, in order of priority', () => {
    const other = control('X', { modes: [pf], control: resolved([pf]) });
    const scene = new Scene().read(0, program('P', 5, [control('A')]), program('Q', 2, [other])).time(100);
    expect(scene.now).to.deep.equal(['X: FixedPFInjectW', 'A: MaxLimW']);
    scene.time(200);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
    expect(scene.of('X')).to.deep.equal([1, 2, 3]);
  });

  it('a superseded event supersedes nothing itself', () => {
    const top = control('T', { startS: 100, durationS: 20 });
    const middle = control('M', { startS: 100, durationS: 200 });
    const low = control('B', { startS: 200, durationS: 50 });
    const scene = new Scene()
      .read(0, program('P', 1, [top]), program('Q', 2, [middle]), program('R', 3, [low]))
      .runTo(400);
    expect(scene.of('M')).to.deep.equal([1, 7]);
    expect(scene.of('B')).to.deep.equal([1, 2, 3]);
  });

  it('at discovery by option: 7 when the winner is seen; the loser goes on until the winner starts', () => {
    const scene = new Scene({ supersededResponse: 'at_discovery' });
    scene.read(0, program('P', 1, []), program('Q', 2, [long()])).time(100);
    scene.read(120, program('P', 1, [short()]), program('Q', 2, [long()]));
    expect(scene.responses).to.deep.equal(['0 L 1', '100 L 2', '120 W 1', '120 L 7']);
    expect(scene.now).to.deep.equal(['L: MaxLimW']);
    scene.runTo(400);
    expect(scene.of('L')).to.deep.equal([1, 2, 7]);
    expect(scene.of('W')).to.deep.equal([1, 2, 3]);
  });

  it('at discovery: an overlap of some modes is answered as little as otherwise', () => {
    const both = long({ modes: [watt, pf], control: resolved([watt, pf]) });
    const scene = new Scene({ supersededResponse: 'at_discovery' });
    scene.read(0, program('P', 1, [short()]), program('Q', 2, [both])).runTo(400);
    expect(scene.of('L')).to.deep.equal([1, 2, 3]);
  });

  it('changed primacy decides from then on: the new winner takes over at the reading', () => {
    const list = [long({ modes: [watt, pf], control: resolved([watt, pf]) })];
    const other = [short()];
    const scene = new Scene().read(0, program('P', 1, list), program('Q', 2, other));
    scene.read(50, program('P', 3, list), program('Q', 2, other)).time(100, 150);
    expect(scene.now).to.deep.equal(['W: MaxLimW', 'L: FixedPFInjectW']);
  });

  it('2018: the takeover by another server is 13, by another program 7', () => {
    const scene = new Scene();
    const elsewhere = program('P', 1, [short()], { href: 'https://other/derp' });
    scene.read(0, elsewhere, program('Q', 2, [long()])).runTo(400);
    expect(scene.of('L')).to.deep.equal([1, 2, 13]);
  });

  it('2018: between programs whose URIs have no server, 7', () => {
    const scene = new Scene();
    const nameless = program('P', 1, [short()], { href: '/derp' });
    scene.read(0, nameless, program('Q', 2, [long()])).runTo(400);
    expect(scene.of('L')).to.deep.equal([1, 2, 7]);
  });

  it('2023: 13 for another server, 14 for another program, 7 for the same one', () => {
    const elsewhere = program('P', 1, [short()], { href: 'https://other/derp' });
    const cases = [
      [13, [elsewhere, program('Q', 2, [long()])]],
      [14, [program('P', 1, [short()]), program('Q', 2, [long()])]],
      [7, [program('P', 1, [short({ creationS: 1 }), long()])]],
    ] as const;
    for (const [answer, programs] of cases) {
      const scene = new Scene({ revision: '2023' }).read(0, ...programs).runTo(400);
      expect(scene.of('L')).to.deep.equal([1, 2, answer]);
    }
  });
});

describe('CSIP events: default controls', () => {
  it('each mode comes from the program of lowest primacy that defines it, where no event has it', () => {
    const low = program('Q', 2, [], { defaultControl: defaults('Q', [watt, pf]) });
    const high = program('P', 1, [control('A')], { defaultControl: defaults('P', [watt]) });
    const scene = new Scene().read(0, low, high);
    expect(scene.now).to.deep.equal(['default P: MaxLimW', 'default Q: FixedPFInjectW']);
    scene.time(100);
    expect(scene.now).to.deep.equal(['A: MaxLimW', 'default Q: FixedPFInjectW']);
    scene.time(200);
    expect(scene.now).to.deep.equal(['default P: MaxLimW', 'default Q: FixedPFInjectW']);
  });

  it('one with settings and no mode left stays in force', () => {
    const settings = { ...defaults('P', []), control: { ...resolved([]), settings: { setGradW: 27 } } };
    const scene = new Scene().read(0, program('P', 1, [], { defaultControl: settings }));
    expect(scene.now).to.deep.equal(['default P: ']);
  });

  it('one that cannot be read stays as it was; one that is gone is given back', () => {
    const scene = new Scene().read(0, program('P', 1, [], { defaultControl: defaults('P', [watt]) }));
    scene.read(10, program('P', 1, [], { defaultControl: undefined }));
    expect(scene.now).to.deep.equal(['default P: MaxLimW']);
    scene.read(20, program('P', 1, [], { defaultControl: null }));
    expect(scene.now).to.deep.equal([]);
  });

  it('stand alone where events give way to them', () => {
    const both = program('P', 1, [control('A')], { defaultControl: defaults('P', [watt]) });
    const scene = new Scene().read(0, both).time(100);
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    expect(defaultControls(scene.state).map(({ id, modes }) => [id, modes])).to.deep.equal([['default P', [watt]]]);
  });

  it('what is in force is the same object while nothing has changed', () => {
    const reading = () => program('P', 1, [control('A')], { defaultControl: defaults('P', [watt, pf]) });
    const scene = new Scene().read(0, reading()).time(100);
    const { inForce } = scene;
    scene.time(101).read(110, reading());
    expect(scene.inForce).to.equal(inForce);
    scene.read(120, program('P', 1, [control('A')], { defaultControl: defaults('P', [watt]) }));
    expect(scene.inForce).not.to.equal(inForce);
  });
});
