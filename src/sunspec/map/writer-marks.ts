/**
 * Writers of points as state that a restart keeps. Holds compare writers by identity, so that two writes of one writer
 * at one instant differ: each writer object of a bank has a number.
 */
import type { Provenance } from '../../core/origin.ts';

/** number, source, peer (null: none), simulated instant, wall ms */
export type KeptWriter = readonly [
  id: number,
  source: Provenance['source'],
  peer: string | null,
  at: Provenance['at'],
  wallMs: number,
];

class WriterMarks {
  readonly #ids = new WeakMap<Provenance, number>();
  /** writers of an earlier process, for all who keep one of them */
  readonly #restored = new Map<number, Provenance>();
  #nextId = 0;

  keep(writer: Provenance): KeptWriter {
    let id = this.#ids.get(writer);
    if (id === undefined) {
      id = this.#nextId;
      this.#name(writer, id);
    }
    const { source, peer = null, at, wallMs } = writer;
    return [id, source, peer, at, wallMs];
  }

  /** The writer of an earlier process; the same object for the same number. */
  restore([id, source, peer, at, wallMs]: KeptWriter): Provenance {
    let writer = this.#restored.get(id);
    if (writer === undefined) {
      writer = { source, ...(peer !== null && { peer }), at, wallMs };
      this.#restored.set(id, writer);
      this.#name(writer, id);
    }
    return writer;
  }

  #name(writer: Provenance, id: number): void {
    this.#ids.set(writer, id);
    this.#nextId = Math.max(this.#nextId, id + 1);
  }
}

const marksOfBanks = new WeakMap<object, WriterMarks>();

/** The numbers of the writers of one bank. */
export function writerMarks(bank: object): WriterMarks {
  let marks = marksOfBanks.get(bank);
  if (marks === undefined) {
    marks = new WriterMarks();
    marksOfBanks.set(bank, marks);
  }
  return marks;
}

/** Keeps a writer where there is one; null: none. */
export const keptWriter = (bank: object, writer: Provenance | undefined): KeptWriter | null =>
  writer === undefined ? null : writerMarks(bank).keep(writer);

export const restoredWriter = (bank: object, writer: KeptWriter | null): Provenance | undefined =>
  writer === null ? undefined : writerMarks(bank).restore(writer);
