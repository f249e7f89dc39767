/** States of content that is not there: not read yet, or not a value of this device. */
import { useEffect, useState } from 'preact/hooks';
import { dash } from '../look/format';
import type { Problem } from '../api/call';
import { Empty } from './panel';

/** Delay before blocks are shown, ms: most answers come sooner. */
const loadingDelayMs = 300;

/** Grey blocks of the final size. @param heights of the blocks, px */
export function Loading({ heights }: { readonly heights: readonly number[] }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), loadingDelayMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" aria-busy="true">
      {heights.map((height, index) => (
        <div key={index} class={isLate ? 'block' : undefined} style={{ height: `${height}px` }} />
      ))}
      <span class="visually-hidden">Loading</span>
    </div>
  );
}

/** Content before its first answer: blocks of its size, or why it cannot be read. @param heights px */
export function Unread({
  problem,
  heights,
}: {
  readonly problem: Problem | null;
  readonly heights: readonly number[];
}) {
  return problem === null ? <Loading heights={heights} /> : <Empty>{problem.message}</Empty>;
}

/** A dash with the reason why there is no value. */
export function NoValue({ reason }: { readonly reason: string }) {
  return (
    <span class="muted" title={reason}>
      {dash}
      <span class="visually-hidden"> {reason}</span>
    </span>
  );
}
