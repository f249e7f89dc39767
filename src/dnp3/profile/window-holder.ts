/** Which master a window belongs to: the selector of a window is one for all masters. */
import type { Origin } from '../../core/origin.ts';

/** The link address of a master, which outlives its connections: `4@127.0.0.1:50123`. */
const masterOf = ({ peer }: Origin) => peer?.split('@')[0] ?? null;

/**
 * The master that selected last holds the window, and another one cannot write into a selection of others. Selecting
 * takes over the window.
 */
export class WindowHolder {
  #master: string | null = null;

  take(by: Origin): void {
    this.#master = masterOf(by);
  }

  isOther(by: Origin): boolean {
    return this.#master !== null && this.#master !== masterOf(by);
  }

  /** The device has been reset: the window is anybody's. */
  forget(): void {
    this.#master = null;
  }
}
