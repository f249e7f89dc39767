import { expect } from 'chai';
import { checkRequest } from '../../src/app/scenarios/checks.ts';
import type { Capture, CaptureTrigger } from '../../src/contract/captures.ts';
import type { TimelineEntry } from '../../src/core/timeline/entry.ts';
import { simTimeFromMs } from '../../src/core/time/clock.ts';
import { parseYaml } from '../../src/core/yaml.ts';
import { runWhole } from '../../src/core/turns.ts';
import * as captured from '../../src/scenario/draft/capture.ts';
import { timelineDraft } from '../../src/scenario/draft/timeline.ts';
import type { Json } from '../support/http.ts';
import { columnsOf } from '../capture/course-support.ts';

const startMs = Date.UTC(2026, 5, 21, 12);

function entry(atMs: number, members: Partial<TimelineEntry>): TimelineEntry {
  return {
    id: 1,
    kind: 'command',
    level: 'info',
    at: simTimeFromMs(startMs + atMs),
    wallMs: 0,
    devices: new Set(),
    by: { source: 'rest' },
    title: 'Title',
    text: 'Text.',
    count: 1,
    ref: null,
    message: null,
    calls: null,
    ...members,
  };
}

const post = (path: string, body: unknown, query: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  path,
  query,
  body,
});
const fromTimeline = (...entries: readonly TimelineEntry[]) =>
  runWhole(timelineDraft(entries, (at) => at / 1000, checkRequest));
const captureDraft = (capture: Capture, check: typeof checkRequest) => runWhole(captured.captureDraft(capture, check));
function* reporting() {
  yield;
  return {
    marks: [],
    thresholds: [],
    verdicts: [{ name: 'Roof', verdict: 'rode_through', reason: 'Below 88 %' }],
    summary: 'It rode through.',
  };
}
const stepsOf = (text: string): readonly Json[] => (parseYaml(text) as Json).steps;
const commentsOf = (text: string) => text.split('\n').filter((line) => line.includes('# '));

describe('a scenario from the timeline', () => {
  it('has commands, grid, weather and registers as steps at their times, in short forms', () => {
    const text = fromTimeline(
      entry(0, { title: 'Sets the grid', calls: [post('/controls/grid', { voltage_pu: 0.9 }, { device: '2' })] }),
      entry(1500, { title: 'Registers written', calls: [post('/registers/704', { points: { WMaxLimPct: 50 } })] }),
      entry(2000.5, { title: 'Local', calls: [post('/controls/local', { local: true }, { device: '1' })] }),
    );
    expect(stepsOf(text)).to.deep.equal([
      { at: 0, name: 'Sets the grid', device: 2, grid: { voltage_pu: 0.9 } },
      { at: 1.5, name: 'Registers written', registers: { 704: { WMaxLimPct: 50 } } },
      { at: 2.001, name: 'Local', call: { request: 'POST /controls/local?device=1', body: { local: true } } },
    ]);
    expect(commentsOf(text)).to.deep.equal([]);
  });

  it('has a step for each device of equal commands, and says that others came again', () => {
    const calls = [post('/controls/local', { local: true }, { device: '0' })];
    const text = fromTimeline(entry(0, { calls, devices: new Set([0, 4]), count: 3 }));
    expect(stepsOf(text).map(({ call }) => call.request)).to.deep.equal([
      'POST /controls/local?device=0',
      'POST /controls/local?device=4',
    ]);
    expect(commentsOf(text)).to.deep.equal(['  # 3 equal ones within seconds, here once: Text.']);
  });

  it('names what no step can do in a comment of one line', () => {
    const hostile = 'a\r\n- call: { request: POST /stop }\u2028x';
    const text = fromTimeline(
      entry(0, { kind: 'service', by: null, text: hostile }),
      entry(1000, { text: 'Sets a secret.' }),
      entry(2000, { calls: [post('/controls/time', { mode: 'paused' })], text: 'Sets the clock.' }),
      entry(3000, { calls: [post('/controls/local', { local: '${x}' })], text: 'Sets a text.' }),
    );
    expect(stepsOf(text)).to.deep.equal([{ name: 'nothing that can be repeated', after: 1 }]);
    const clockWords =
      'the scenario has the clock: pass time with `after`, `time` or `cron`, and set time_rate in `config`';
    const at = (s: number) => `  # 2026-06-21T12:00:0${s}.000Z not a step`;
    expect(commentsOf(text)).to.deep.equal([
      `${at(0)} (it came about by itself): a - call: { request: POST /stop } x`,
      `${at(1)} (its request is not kept: it is too large or has a secret): Sets a secret.`,
      `${at(2)} (${clockWords}): Sets the clock.`,
      `${at(3)} (a text in it would be taken for a parameter): Sets a text.`,
    ]);
  });

  it('orders steps by their instants, and says that the text would be too long', () => {
    const calls = [post('/controls/grid', { voltage_pu: 1 })];
    expect(
      stepsOf(fromTimeline(entry(0, { calls }), entry(3000, { calls }), entry(1000, { calls }))).map(({ at }) => at),
    ).to.deep.equal([0, 1, 3]);
    const many = fromTimeline(...Array.from({ length: 3000 }, (_none, n) => entry(n * 1000, { calls })));
    expect(many.length).to.be.lessThan(100_000);
    expect(stepsOf(many).length).to.be.within(1000, 2999);
    expect(commentsOf(many)).to.deep.equal(['  # the rest is left out: the text would be too long']);
  });
});

describe('a scenario from a capture', () => {
  const trigger: CaptureTrigger = {
    kind: 'grid_event',
    tS: 0,
    title: 'Sag to 42 %',
    deviceIndex: null,
    by: { source: 'rest' },
    call: { path: '/controls/grid/event', body: { event: 'sag', parameters: { residual_pu: 0.42 } } },
  };
  const spans = [{ toS: -1 }, { toS: 0 }, { toS: 0.5, vPct: 80 }, { toS: 1 }, { toS: 3 }];
  const captureOf = (triggers: readonly CaptureTrigger[], changes: Partial<Capture> = {}) =>
    ({
      id: 4,
      state: 'complete',
      endS: 3,
      triggers,
      rows: [{ deviceIndex: 0, vNomPu: 1, columns: columnsOf(spans) }],
      reporting,
      ...changes,
    }) as unknown as Capture;

  const end = {
    name: 'the devices do the same',
    when: { get: 'captures', pointer: '/captures/0/state', equals: 'complete', timeout: 13 },
    expect: { get: 'captures', pointer: '/captures/0/summary', equals: 'It rode through.' },
  };

  it('repeats the requests of its triggers, and expects what the devices did', () => {
    const later = {
      ...trigger,
      tS: 1.5,
      title: 'Grid',
      call: { path: '/controls/grid?device=3', body: { voltage_pu: 0.9 } },
    };
    const text = captureDraft(captureOf([trigger, later]), checkRequest);
    expect(stepsOf(text)).to.deep.equal([
      { at: 1, name: 'Sag to 42 %', event: { event: 'sag', parameters: { residual_pu: 0.42 } } },
      { at: 2.5, name: 'Grid', device: 3, grid: { voltage_pu: 0.9 } },
      end,
    ]);
    expect(commentsOf(text)).to.deep.equal(['  # Roof: rode through (Below 88 %)']);
  });

  it('follows the course of the grid where nobody asked for it, from the row before each change', () => {
    const threshold: CaptureTrigger = { ...trigger, kind: 'threshold', title: 'Below 88 %', call: null, by: null };
    const steps = stepsOf(captureDraft(captureOf([threshold]), checkRequest));
    expect(steps).to.deep.equal([
      { at: 1, name: 'the grid as it was', grid: { voltage_pu: 0.8, frequency_hz: 60 } },
      { at: 1.5, name: 'the grid as it was', grid: { voltage_pu: 1, frequency_hz: 60 } },
      end,
    ]);
    const ofDevice = stepsOf(captureDraft(captureOf([{ ...threshold, deviceIndex: 0 }]), checkRequest));
    expect(ofDevice[0]).to.include({ device: 0 });
    const rows = [0, 1].map((deviceIndex) => ({ deviceIndex, vNomPu: 1, columns: columnsOf(spans) }));
    const ofAll = stepsOf(captureDraft(captureOf([{ ...threshold, deviceIndex: 0 }], { rows }), checkRequest));
    expect(ofAll, 'the common grid has passed it').to.deep.equal(steps);
  });

  it('gives voltages per unit of the grid where the setting of the nominal voltage is not the rating', () => {
    const threshold: CaptureTrigger = { ...trigger, kind: 'threshold', title: 'Below 88 %', call: null, by: null };
    const rows = [{ deviceIndex: 0, vNomPu: 0.95, columns: columnsOf(spans) }];
    const steps = stepsOf(captureDraft(captureOf([threshold], { rows }), checkRequest));
    expect(steps.slice(0, 2).map(({ grid }) => grid.voltage_pu)).to.deep.equal([0.76, 0.95]);
  });

  it('names what nothing can repeat, and waits for the end of the recording', () => {
    const trip: CaptureTrigger = { ...trigger, kind: 'trip', title: 'Roof trips', call: null };
    const still = captureOf([trip], { rows: [] });
    expect(commentsOf(captureDraft(still, checkRequest))[0]).to.equal(
      '  # Roof trips: not a step (a device did it by itself)',
    );
    expect(() => captureDraft(captureOf([trigger], { state: 'recording' }), checkRequest)).to.throw(
      'capture 4 still records',
    );
  });
});
