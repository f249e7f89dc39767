/** State of the devices that survives the process. */
export interface Keeping {
  /**
   * Saves what has changed of a device (null: of all devices) and of the parts they share. An answer that acknowledges
   * a command waits for it.
   * @returns null: nothing to wait for
   */
  commit(deviceIndex: number | null): Promise<void> | null;
}

/** Nothing survives the process. */
export const keepsNothing: Keeping = { commit: () => null };
