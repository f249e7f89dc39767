/** Limits of one walk: the resources of the server that it holds, and the octets of their documents. */

export interface Amount {
  readonly resources: number;
  readonly octets: number;
}

/** Limits of a walk for one EndDevice. */
const forOne: Amount = { resources: 10_000, octets: 16 * 1024 * 1024 };
/** Octets for each further EndDevice of an aggregator. */
const furtherOctets = 1024 * 1024;

/** The limits of a walk, by its number of EndDevices. */
export const walkMaximum = (endDevices: number): Amount => ({
  resources: forOne.resources * Math.max(1, endDevices),
  octets: forOne.octets + furtherOctets * Math.max(0, endDevices - 1),
});

/** The sum of the amounts that the parts of one walk hold. */
export class WalkBounds {
  readonly maximum: Amount;
  resources = 0;
  octets = 0;

  constructor(maximum: Amount) {
    this.maximum = maximum;
  }

  /** Starts the count of one part of the walk. */
  part(): Holding {
    return new Holding(this);
  }
}

const nothing: Amount = { resources: 0, octets: 0 };

/** The amount that one part of a walk holds: the larger one of its last reading and of the reading under way. */
export class Holding {
  readonly #bounds: WalkBounds;
  #last: Amount = nothing;
  #current: Amount = nothing;

  constructor(bounds: WalkBounds) {
    this.#bounds = bounds;
  }

  /** resources that still fit; 0 also if the octets are used up */
  get room(): number {
    const { maximum, resources, octets } = this.#bounds;
    const others = { resources: resources - this.#size.resources, octets: octets - this.#size.octets };
    if (others.octets + this.#current.octets >= maximum.octets) return 0;
    return Math.max(0, maximum.resources - others.resources - this.#current.resources);
  }

  /** Starts a reading. */
  begin(): void {
    this.#change(this.#last, nothing);
  }

  add(resources: number, octets: number): void {
    this.#change(this.#last, {
      resources: this.#current.resources + resources,
      octets: this.#current.octets + octets,
    });
  }

  /** Ends a reading. @param whole false: it was cut short, so that the larger one of it and the last reading counts */
  end(whole: boolean): void {
    this.#change(whole ? this.#current : this.#size, nothing);
  }

  close(): void {
    this.#change(nothing, nothing);
  }

  get #size(): Amount {
    return {
      resources: Math.max(this.#last.resources, this.#current.resources),
      octets: Math.max(this.#last.octets, this.#current.octets),
    };
  }

  #change(last: Amount, current: Amount): void {
    const before = this.#size;
    this.#last = last;
    this.#current = current;
    this.#bounds.resources += this.#size.resources - before.resources;
    this.#bounds.octets += this.#size.octets - before.octets;
  }
}
