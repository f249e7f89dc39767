/**
 * Transactions of one charge point of OCPP 1.6 as a central system books them. A message that is sent again, since its
 * answer was lost, counts once; those of 2.x have their own books (`test/ocpp/central/books.ts`).
 */

export interface StartPayload {
  readonly connectorId: number;
  readonly idTag: string;
  readonly meterStart: number;
  readonly timestamp: string;
}
export interface StopPayload {
  readonly transactionId: number;
  readonly meterStop: number;
  readonly timestamp: string;
}

interface Booked {
  readonly transactionId: number;
  readonly start: StartPayload;
  stop: StopPayload | null;
}

/** Wh between the stop of a transaction and the start of the next one: both are rounded. */
const resolutionWh = 1;

export class Books16 {
  readonly #booked: Booked[] = [];
  readonly issues: string[] = [];

  get starts(): number {
    return this.#booked.length;
  }

  get open(): number {
    return this.#booked.filter(({ stop }) => stop === null).length;
  }

  /** Energy of all transactions that have ended, Wh. */
  get energyWh(): number {
    return this.#booked.reduce(
      (sum, { start, stop }) => sum + (stop === null ? 0 : stop.meterStop - start.meterStart),
      0,
    );
  }

  /** @returns the id of the transaction: that of before for a repetition */
  start(start: StartPayload): number {
    const repeated = this.#booked.find((each) => JSON.stringify(each.start) === JSON.stringify(start));
    if (repeated !== undefined) return repeated.transactionId;
    const transactionId = this.#booked.length + 1;
    const before = this.#booked.findLast((each) => each.start.connectorId === start.connectorId);
    if (before !== undefined) this.#follows(before, start, transactionId);
    this.#booked.push({ transactionId, start, stop: null });
    return transactionId;
  }

  #follows({ transactionId, start: earlier, stop }: Booked, start: StartPayload, next: number): void {
    if (stop === null) {
      this.issues.push(
        `transaction ${next} starts at connector ${start.connectorId}, where ${transactionId} has no stop`,
      );
      if (start.meterStart < earlier.meterStart)
        this.issues.push(
          `the meter falls from ${earlier.meterStart} to ${start.meterStart} Wh at the start of ${next}`,
        );
      return;
    }
    const between = start.meterStart - stop.meterStop;
    if (between < 0)
      this.issues.push(
        `the meter falls from ${stop.meterStop} to ${start.meterStart} Wh between ${transactionId} and ${next}`,
      );
    if (between > resolutionWh)
      this.issues.push(`${between} Wh between ${transactionId} and ${next} belong to no transaction`);
  }

  stop(stop: StopPayload): void {
    const { transactionId } = stop;
    const booked = this.#booked.find((each) => each.transactionId === transactionId);
    if (booked === undefined) {
      this.issues.push(`there is no transaction ${transactionId}, which a StopTransaction names`);
      return;
    }
    if (booked.stop !== null) {
      const isRepetition = booked.stop.meterStop === stop.meterStop && booked.stop.timestamp === stop.timestamp;
      if (!isRepetition)
        this.issues.push(`transaction ${transactionId} has two stops: ${JSON.stringify([booked.stop, stop])}`);
      return;
    }
    const { meterStart, timestamp } = booked.start;
    if (stop.meterStop < meterStart)
      this.issues.push(
        `the meter falls from ${meterStart} to ${stop.meterStop} Wh within transaction ${transactionId}`,
      );
    if (Date.parse(stop.timestamp) < Date.parse(timestamp))
      this.issues.push(`transaction ${transactionId} stops at ${stop.timestamp}, before its start at ${timestamp}`);
    booked.stop = stop;
  }
}
