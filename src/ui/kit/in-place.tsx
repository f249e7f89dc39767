/** Values in force that are changed in place: Undo in the notice, refusals below the control. */
import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { perform, Problem } from '../api/call';
import type { Call } from '../api/call';
import { refresh } from '../store/live';
import { CallLine } from './api-switch';
import { Refused } from './action';
import { say } from './notice';
import { Slider } from './slider';

/** One change for the user; several calls when it is for several devices. */
interface Change {
  /** for the notice, such as `Irradiance: 800 W/m²` */
  readonly text: string;
  readonly calls: readonly Call[];
  /** calls that send the earlier values; empty: it cannot be taken back */
  readonly undo: readonly Call[];
}

interface InPlace {
  readonly problems: readonly Problem[];
  /** Resolves to false if a call was refused; the others were made. */
  readonly change: (change: Change) => Promise<boolean>;
}

/** Makes the calls one after the other. */
async function performAll(calls: readonly Call[]): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const call of calls) {
    try {
      await perform(call);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(error);
    }
  }
  refresh();
  return problems;
}

/** Makes changes, and offers to take them back. */
export function useInPlace(): InPlace {
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const send = async (calls: readonly Call[]) => {
    const refused = await performAll(calls);
    setProblems(refused);
    return refused.length === 0;
  };
  const change = async ({ text, calls, undo }: Change) => {
    const isDone = await send(calls);
    if (isDone) say(text, undo.length === 0 ? null : () => void send(undo));
    return isDone;
  };
  return { problems, change };
}

/** The daemon's reasons; the same reason of several devices stands once. */
function Reasons({ problems }: { readonly problems: readonly Problem[] }) {
  const first = new Map(problems.map((problem) => [problem.message, problem]));
  return (
    <>
      {[...first].map(([message, problem]) => (
        <Refused key={message} problem={problem} />
      ))}
    </>
  );
}

interface InPlaceSliderProps extends Omit<ComponentProps<typeof Slider>, 'onSet' | 'presets' | 'value'> {
  readonly value: number | null | undefined;
  /** decimals of the number */
  readonly decimals: number;
  /** calls that set a value */
  readonly callsOf: (value: number) => readonly Call[];
  /** calls that set what is in force now; empty: it cannot be taken back */
  readonly undo: readonly Call[];
  /** values that are set by a press */
  readonly presets?: readonly (readonly [title: string, value: number])[];
  /** true: the value is that of a source, so that no preset is in force */
  readonly follows?: boolean;
  /** further buttons beside the presets */
  readonly children?: ComponentChildren;
}

/** A slider whose value is sent on release, on Enter, or by a preset. */
export function InPlaceSlider(props: InPlaceSliderProps) {
  const { decimals, callsOf, undo, presets = [], follows = false, children, value: exact, ...slider } = props;
  const { problems, change } = useInPlace();
  const value = exact === null || exact === undefined ? null : Number(exact.toFixed(decimals));
  const [shownCall] = callsOf(value ?? slider.emptyAt ?? slider.min);
  const set = (next: number) =>
    change({ text: `${slider.name}: ${next}\u00a0${slider.unit}`, calls: callsOf(next), undo });
  return (
    <Slider {...slider} value={value} onSet={set}>
      {(presets.length > 0 || children !== undefined) && (
        <div class="row">
          {presets.map(([title, preset]) => (
            <button
              key={title}
              type="button"
              class="small"
              title={`${preset}\u00a0${slider.unit}`}
              aria-pressed={preset === value && !follows}
              disabled={slider.disabled}
              onClick={() => void set(preset)}
            >
              {title}
            </button>
          ))}
          {children}
        </div>
      )}
      <Reasons problems={problems} />
      {shownCall && <CallLine call={shownCall} />}
    </Slider>
  );
}

interface InPlaceButtonProps {
  readonly text: string;
  readonly calls: readonly Call[];
  readonly undo: readonly Call[];
  readonly children: ComponentChildren;
  readonly pressed?: boolean;
  /** reason why the change is impossible now: disables the button, and is its title */
  readonly unable?: string | null;
  readonly primary?: boolean;
}

/** A button that makes one change. */
export function InPlaceButton({ text, calls, undo, children, pressed, unable = null, primary }: InPlaceButtonProps) {
  const { problems, change } = useInPlace();
  const [shownCall] = calls;
  return (
    <>
      <button
        type="button"
        class={primary ? 'primary' : 'small'}
        aria-pressed={pressed}
        disabled={unable !== null || calls.length === 0}
        title={unable ?? undefined}
        onClick={() => void change({ text, calls, undo })}
      >
        {children}
      </button>
      <Reasons problems={problems} />
      {shownCall && <CallLine call={shownCall} />}
    </>
  );
}
