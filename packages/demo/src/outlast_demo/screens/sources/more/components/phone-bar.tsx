"use client";

import { House, Menu, Plus, Search } from "lucide-react";

import { Button } from "@/components/ui/button";
import { Sheet, SheetContent, SheetDescription, SheetHeader, SheetTitle, SheetTrigger } from "@/components/ui/sheet";

/** On phones only: the main actions in a bar within reach of the thumb, the rest in a drawer. */
export function PhoneBar() {
  return (
    <>
      <div aria-hidden="true" className="h-20 md:hidden" />
      <nav
        aria-label="Quick actions"
        className="fixed inset-x-4 bottom-4 z-50 flex items-center justify-around rounded-2xl border bg-card/85 p-2 shadow-2xl backdrop-blur-xl md:hidden"
      >
        <Button variant="ghost" size="icon-lg" aria-label="Scroll to top" onClick={() => window.scrollTo({ top: 0 })}>
          <House />
        </Button>
        <Button variant="ghost" size="icon-lg" aria-label="Search">
          <Search />
        </Button>
        <Button size="icon-lg" className="rounded-xl" aria-label="New">
          <Plus />
        </Button>
        <Sheet>
          <SheetTrigger asChild>
            <Button variant="ghost" size="icon-lg" aria-label="Open menu">
              <Menu />
            </Button>
          </SheetTrigger>
          <SheetContent side="bottom" className="rounded-t-3xl pb-8">
            <SheetHeader>
              <SheetTitle>Menu</SheetTitle>
              <SheetDescription>More actions</SheetDescription>
            </SheetHeader>
            <div className="grid gap-1 px-3">
              {["Overview", "Notifications", "Settings", "Help"].map((item) => (
                <Button key={item} variant="ghost" size="lg" className="justify-start">
                  {item}
                </Button>
              ))}
            </div>
          </SheetContent>
        </Sheet>
      </nav>
    </>
  );
}
