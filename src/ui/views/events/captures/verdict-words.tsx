/** Verdicts of a capture as words with a shape. */
import type { ReplyOf } from '../../../api/call';
import { Chip } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { dash, duration } from '../../../look/format';

export type Capture = ReplyOf<'captures/{id}'>;
export type Verdict = Capture['verdicts'][number];
export type VerdictWord = Verdict['verdict'];

interface Look {
  readonly text: string;
  readonly tone: Tone;
}

/** From the worst to the mildest. */
const looks: Readonly<Record<VerdictWord, Look>> = {
  against_the_rule: { text: 'against the rule', tone: 'bad' },
  tripped: { text: 'tripped', tone: 'bad' },
  still_out: { text: 'still out', tone: 'warn' },
  interrupted: { text: 'interrupted', tone: 'warn' },
  ceased_and_came_back: { text: 'ceased and came back', tone: 'good' },
  rode_through: { text: 'rode through', tone: 'good' },
  not_concerned: { text: 'not concerned', tone: 'off' },
};
const verdictWords = Object.keys(looks) as readonly VerdictWord[];
export const verdictTexts = verdictWords.map((word) => [word, looks[word].text] as const);

export function VerdictChip({ of }: { readonly of: VerdictWord }) {
  const { text, tone } = looks[of];
  return <Chip tone={tone}>{text}</Chip>;
}

/** Worst first. */
export function byVerdict(verdicts: readonly Verdict[]): readonly Verdict[] {
  return [...verdicts].sort(
    (a, b) => verdictWords.indexOf(a.verdict) - verdictWords.indexOf(b.verdict) || a.device_index - b.device_index,
  );
}

/** Number of devices by verdict, but for those that are not concerned unless all are. */
export function VerdictChips({ verdicts }: { readonly verdicts: readonly Verdict[] }) {
  const counts = verdictWords
    .map((word) => ({ word, count: verdicts.filter(({ verdict }) => verdict === word).length }))
    .filter(({ word, count }) => count > 0 && (word !== 'not_concerned' || count === verdicts.length));
  return (
    <span class="row">
      {counts.map(({ word, count }) => (
        <Chip key={word} tone={looks[word].tone}>
          {count} {looks[word].text}
        </Chip>
      ))}
    </span>
  );
}

/** `0.80 s left`, `over by 1.04 s`; only behind `by` is a break, where room is short. */
export function marginText(seconds: number | null): string {
  if (seconds === null) return dash;
  return seconds < 0 ? `over by ${duration(-seconds)}` : `${duration(seconds)}\u00a0left`;
}

/** Time from the return of the grid to the power before. */
export function backText({ verdict, back_after_s: backS }: Verdict, isRecording: boolean): string {
  if (backS !== null) return backS === 0 ? 'at\u00a0once' : duration(backS);
  const isAway = verdict === 'tripped' || verdict === 'still_out' || verdict === 'against_the_rule';
  if (!isAway) return dash;
  return isRecording ? 'not\u00a0yet' : 'not\u00a0back';
}
