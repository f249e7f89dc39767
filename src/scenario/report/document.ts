/** The result of a run as JSON: what a machine reads. Without real times two runs of one scenario give the same bytes. */
import type { RunReport } from '../../contract/scenarios.ts';

export interface ReportOrigin {
  readonly version: string;
  readonly buildId: string;
  readonly seed: number;
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
/** Without the last bits of sums of microseconds. */
const plain = (s: number | null) => (s === null ? null : Number(s.toFixed(6)));

/** @param origin of the simulator that ran it */
export function reportDocument(report: RunReport, { version, buildId, seed }: ReportOrigin) {
  return {
    format: 'derbench-scenario-result/1',
    derbench: { version, build_id: buildId },
    scenario: { name: report.name, description: report.description, parameters: report.parameters },
    state: report.state,
    error: report.error,
    failures: report.failures,
    real: {
      started_at: iso(report.startedAtMs),
      ended_at: iso(report.endedAtMs),
      duration_s: report.endedAtMs === null ? null : plain((report.endedAtMs - report.startedAtMs) / 1000),
    },
    simulated: {
      started_at: iso(report.simStartMs),
      duration_s: plain(report.simS),
      ticks: report.ticks,
      pace: report.pace,
      seed,
    },
    devices: report.devices,
    steps: report.steps.map(({ place, name, state, atS, actions, message }) => ({
      place,
      name,
      state,
      at_s: plain(atS),
      actions: actions.map(({ name: action, status, isExpected, detail }) => ({
        name: action,
        status,
        expected: isExpected,
        detail,
      })),
      message,
    })),
    assertions: report.assertions.map(({ place, name, state, message, beganS, decidedS }) => ({
      place,
      name,
      state,
      message,
      began_s: plain(beganS),
      decided_s: plain(decidedS),
    })),
    series: report.series().map(({ signal, unit, samples }) => ({
      signal,
      unit,
      samples: samples.map(([s, value]) => [plain(s), value]),
    })),
  };
}

/** Members of `reportDocument` that tell of the real time and differ between two equal runs. */
export const realMembers = ['real'] as const;
