/** Bounds of the resources of a server that one walk holds in all, and of the octets of their documents. */

export interface Amount {
  readonly resources: number;
  readonly octets: number;
}

/** Of one EndDevice. */
const forOne: Amount = { resources: 10_000, octets: 16 * 1024 * 1024 };
/** For each further EndDevice of an aggregator. */
const furtherOctets = 1024 * 1024;

/** The maximum of a walk for so many EndDevices. */
export const walkMaximum = (endDevices: number): Amount => ({
  resources: forOne.resources * Math.max(1, endDevices),
  octets: forOne.octets + furtherOctets * Math.max(0, endDevices - 1),
});

/** The sum of what the parts of one walk hold. */
export class WalkBounds {
  readonly maximum: Amount;
  resources = 0;
  octets = 0;

  constructor(maximum: Amount) {
    this.maximum = maximum;
  }

  /** A part that is read as a whole. */
  part(): Holding {
    return new Holding(this);
  }
}

const nothing: Amount = { resources: 0, octets: 0 };

/** The amount that one part of a walk holds: of its last reading, or of the one under way if that is more already. */
export class Holding {
  readonly #bounds: WalkBounds;
  #held: Amount = nothing;
  #coming: Amount = nothing;

  constructor(bounds: WalkBounds) {
    this.#bounds = bounds;
  }

  /** resources for which there is room */
  get room(): number {
    const { maximum, resources, octets } = this.#bounds;
    const others = { resources: resources - this.#size.resources, octets: octets - this.#size.octets };
    if (others.octets + this.#coming.octets >= maximum.octets) return 0;
    return Math.max(0, maximum.resources - others.resources - this.#coming.resources);
  }

  /** Starts a reading. */
  begin(): void {
    this.#change(this.#held, nothing);
  }

  add(resources: number, octets: number): void {
    this.#change(this.#held, {
      resources: this.#coming.resources + resources,
      octets: this.#coming.octets + octets,
    });
  }

  /** Ends a reading. @param whole false: parts of the reading before stay beside the new ones */
  end(whole: boolean): void {
    this.#change(whole ? this.#coming : this.#size, nothing);
  }

  close(): void {
    this.#change(nothing, nothing);
  }

  get #size(): Amount {
    return {
      resources: Math.max(this.#held.resources, this.#coming.resources),
      octets: Math.max(this.#held.octets, this.#coming.octets),
    };
  }

  #change(held: Amount, coming: Amount): void {
    const before = this.#size;
    this.#held = held;
    this.#coming = coming;
    this.#bounds.resources += this.#size.resources - before.resources;
    this.#bounds.octets += this.#size.octets - before.octets;
  }
}
