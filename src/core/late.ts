/** An object that is made after those that refer to it: the parts of a protocol, say, which are loaded at the start. */
export class Late<T extends object> {
  /** Has the members of the object that is there when they are used. */
  readonly face: T;
  #value: T | null;

  /** @param standIn takes the place of the object before it is there; absent: any use fails */
  constructor(standIn: T | null = null) {
    this.#value = standIn;
    this.face = new Proxy({} as T, {
      get: (_target, name) => {
        const value = this.#value;
        if (value === null) throw new Error(`${String(name)} is used before its object is there`);
        const member: unknown = Reflect.get(value, name);
        return typeof member === 'function' ? (member.bind(value) as unknown) : member;
      },
    });
  }

  set(value: T): void {
    this.#value = value;
  }
}
