import { MoreHorizontal } from "lucide-react";

import { Avatar, AvatarFallback } from "@/components/ui/avatar";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardAction, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { cn } from "@/lib/utils";

const orders = [
  { id: "4821", name: "Ines Holm", city: "Bergen", total: "$182.00", state: "Paid", when: "12 min ago" },
  { id: "4820", name: "Tomás Rey", city: "Porto", total: "$64.50", state: "Packing", when: "38 min ago" },
  { id: "4819", name: "Jun Okabe", city: "Sapporo", total: "$310.20", state: "Shipped", when: "1 h ago" },
  { id: "4818", name: "Clara Voss", city: "Leipzig", total: "$29.90", state: "Paid", when: "2 h ago" },
  { id: "4817", name: "Amina Diallo", city: "Dakar", total: "$97.00", state: "Returned", when: "3 h ago" },
];

const looks: Record<string, string> = {
  Paid: "bg-chart-2/15 text-chart-2",
  Packing: "bg-chart-3/15 text-chart-3",
  Shipped: "bg-primary/15 text-primary",
  Returned: "bg-destructive/15 text-destructive",
};

export function OrdersTable() {
  return (
    <Card className="gap-2 pb-2">
      <CardHeader>
        <CardTitle>Latest orders</CardTitle>
        <CardDescription>The latest 5 of 1,284 this month</CardDescription>
        <CardAction>
          <Button variant="ghost" size="sm">
            See all
          </Button>
        </CardAction>
      </CardHeader>
      <Table>
        <TableHeader>
          <TableRow className="hover:bg-transparent">
            <TableHead className="pl-6">Customer</TableHead>
            <TableHead>Order</TableHead>
            <TableHead>State</TableHead>
            <TableHead>When</TableHead>
            <TableHead className="text-right">Total</TableHead>
            <TableHead className="w-12 pr-6" />
          </TableRow>
        </TableHeader>
        <TableBody>
          {orders.map((order) => (
            <TableRow key={order.id}>
              <TableCell className="pl-6">
                <span className="flex items-center gap-3">
                  <Avatar className="size-8">
                    <AvatarFallback>
                      {order.name
                        .split(" ")
                        .map((part) => part[0])
                        .join("")}
                    </AvatarFallback>
                  </Avatar>
                  <span>
                    <span className="block font-medium">{order.name}</span>
                    <span className="block text-xs text-muted-foreground">{order.city}</span>
                  </span>
                </span>
              </TableCell>
              <TableCell className="font-mono text-xs text-muted-foreground">#{order.id}</TableCell>
              <TableCell>
                <Badge variant="secondary" className={cn(looks[order.state])}>
                  {order.state}
                </Badge>
              </TableCell>
              <TableCell className="text-muted-foreground">{order.when}</TableCell>
              <TableCell className="text-right font-medium tabular-nums">{order.total}</TableCell>
              <TableCell className="pr-6">
                <Button variant="ghost" size="icon-sm" aria-label={`Actions for order ${order.id}`}>
                  <MoreHorizontal />
                </Button>
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </Card>
  );
}
