/** Ramp and duration of the changes of a tab. */
import { useState } from 'preact/hooks';
import { duration } from '../../look/format';

/** Members of a request; absent: at once, or without an end. */
export interface Timing {
  readonly ramp_s?: number;
  readonly duration_s?: number;
}

export function useTiming(): readonly [Timing, (timing: Timing) => void] {
  return useState<Timing>({});
}

/** `at once, until changed` */
function textOf({ ramp_s: rampS, duration_s: durationS }: Timing): string {
  const start = rampS === undefined ? 'at once' : `ramp of ${duration(rampS)}`;
  return `${start}, ${durationS === undefined ? 'until changed' : `for ${duration(durationS)}`}`;
}

interface OverTimeProps {
  readonly timing: Timing;
  readonly onTiming: (timing: Timing) => void;
}

/** Choices of ramp and duration, which apply to the changes that follow. */
export function OverTime({ timing, onTiming }: OverTimeProps) {
  const set = (name: keyof Timing, text: string) => {
    const others = Object.entries(timing).filter(([other]) => other !== name);
    onTiming(Object.fromEntries(Number(text) > 0 ? [...others, [name, Number(text)]] : others));
  };
  return (
    <details class="over-time">
      <summary>
        Over time: <span class="muted">{textOf(timing)}</span>
      </summary>
      <div class="fields">
        <label class="field">
          <span>Ramp, s</span>
          <input
            name="ramp_s"
            inputMode="decimal"
            placeholder="at once"
            value={timing.ramp_s ?? ''}
            onChange={(event) => set('ramp_s', event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Duration with the ramp, s</span>
          <input
            name="duration_s"
            inputMode="decimal"
            placeholder="until changed"
            value={timing.duration_s ?? ''}
            onChange={(event) => set('duration_s', event.currentTarget.value)}
          />
        </label>
      </div>
    </details>
  );
}
