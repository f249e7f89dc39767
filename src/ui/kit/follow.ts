import { useEffect, useRef, useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { perform, Problem } from '../api/call';
import { opened } from '../store/stream';

const readEveryMs = 1000;

interface Numbered {
  readonly id: number;
}

/** The rows of one answer. */
interface Piece<T> {
  readonly rows: readonly T[];
  /** newest assigned id; absent: not in the answer */
  readonly lastId?: number | undefined;
}

interface Following<T extends Numbered, R> {
  /** call for the rows after an id; undefined: for the newest ones. A change of the address clears the list */
  readonly read: (afterId: number | undefined) => Call<R>;
  readonly pieceOf: (answer: R) => Piece<T>;
  readonly paused: boolean;
  /** maximum number of rows in the page */
  readonly maxKept: number;
}

/** Rows of a log, ascending by id; newer ones are read each second. */
export function useFollowed<T extends Numbered, R>(following: Following<T, R>) {
  const [rows, setRows] = useState<readonly T[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const latest = useRef(following);
  latest.current = following;
  const address = following.read(undefined).address;
  useEffect(() => {
    let lastId: number | undefined;
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setRows([]);
    const take = (answer: R) => {
      const { pieceOf, maxKept } = latest.current;
      const piece = pieceOf(answer);
      const fresh = [...piece.rows].sort((a, b) => a.id - b.id);
      const newest = piece.lastId ?? fresh.at(-1)?.id ?? lastId;
      // after a restart of the daemon the ids begin anew
      const restarted = lastId !== undefined && newest !== undefined && newest < lastId;
      lastId = restarted ? undefined : newest;
      if (restarted) setRows([]);
      else if (fresh.length > 0) setRows((before) => [...before, ...fresh].slice(-maxKept));
      setProblem(null);
    };
    const round = async () => {
      if (!latest.current.paused && !document.hidden) {
        try {
          const answer = await perform(latest.current.read(lastId));
          if (ended) return;
          take(answer);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          if (!ended) setProblem(error);
        }
      }
      if (!ended) timer = setTimeout(() => void round(), readEveryMs);
    };
    void round();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [address, opened.value]);
  return { rows, problem, clear: () => setRows([]) };
}
