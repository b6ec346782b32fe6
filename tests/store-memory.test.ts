/** The memory store keeps the contract of a store. */

import { openMemoryStore } from '../src/store/memory.ts';
import type { MemoryState } from '../src/store/memory.ts';
import { storeContract } from './contract/store-contract.ts';

storeContract(
  'memory',
  async ({ clock, archive, from }) => {
    const store = openMemoryStore({ clock, archive, ...(from === null ? {} : { state: from as MemoryState }) });
    return { store, pages: () => store.pages(), kill: () => store.state };
  },
  { leasesRunOut: true },
);
